//===- Calibrate.cpp - tessera calibrate ----------------------------------===//

#include "tessera/Options/Counted.h"
#include "tessera/Target/OutputFile.h"
#include "tools/tessera/calibrate/CalibrateGpus.h"
#include "tools/tessera/calibrate/FitRates.h"
#include "tools/tessera/options/Command.h"
#include "tools/tessera/options/FileChecks.h"
#include "tools/tessera/options/GroupDeclarations.h"
#include "tools/tessera/report/Output.h"
#include "tools/tessera/report/PrintError.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Threading.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"
#include <unistd.h>

using namespace llvm;
using namespace tessera;

namespace {

class Calibrate : public Command {
public:
  void declare(CLI::App &app) override;
  void check(CLI::App &app) override { requireOneProcess(app); }
  int run() override;

private:
  bool measureCpu(simulate::Cluster &cluster);

  DeviceKind device = DeviceKind::Cpu; ///< It is measured.
  std::string name;     ///< The machine's; "": the system says one.
  bool isQuick = false; ///< Few sizes, in a second or two.
  std::string output;
};

const CommandRegistration<Calibrate> registration(
    {80, "calibrate", "Measure this machine, for --cluster of simulate",
     " -o machine.toml"});

} // namespace

void Calibrate::declare(CLI::App &app) {
  beginGroup(app, "Calibration", "--name 'two sockets' --quick");
  tessera::declare(app, "--device", FlagCheck::Any, device,
                   "What to measure: the CPUs of this machine or its GPUs");
  app.add_option("--name", name,
                 "What the machine is called (default: its processor and "
                 "cores, or its GPUs)")
      ->type_name("NAME");
  app.add_flag("--quick", isQuick,
               "Few sizes, within seconds: a first look, not for plans");
  declareOutput(app, "toml", "Output file (default: machine.toml)", output);
}

/// Measures all programs in turns. Returns false after an error, which is
/// printed.
static bool measureAll(bool isQuick, int64_t cores,
                       std::vector<MeasuredProgram> &computing,
                       std::vector<MeasuredProgram> &communicating) {
  std::vector<CalibrationProgram> programs =
      calibrationPrograms(cores, isQuick);
  auto say = [&](const Twine &text) {
    if (!isQuick)
      standardError() << text << "\n";
  };
  std::vector<TimedProgram> timed(programs.size());
  say("compiling " + counted(static_cast<int64_t>(programs.size()), "program"));
  for (const auto &[program, times] : zip(programs, timed))
    if (!times.open(program, cores))
      return false;
  int64_t rounds = isQuick ? 1 : 3, steps = isQuick ? 2 : 3;
  for (int64_t round = 1; round <= rounds; ++round) {
    say("measuring, round " + Twine(round) + " of " + Twine(rounds));
    for (TimedProgram &times : timed)
      if (!times.run(steps))
        return false;
  }
  for (const TimedProgram &times : timed) {
    MeasuredProgram measured = times.result();
    (measured.isForLink ? communicating : computing)
        .push_back(std::move(measured));
  }
  return true;
}

bool Calibrate::measureCpu(simulate::Cluster &cluster) {
  auto cores =
      static_cast<int64_t>(hardware_concurrency().compute_thread_count());
  std::vector<MeasuredProgram> computing, communicating;
  if (!measureAll(isQuick, cores, computing, communicating))
    return false;
  cluster.name = sys::getHostCPUName().str() + ", " + counted(cores, "core");
  cluster.kind = DeviceKind::Cpu;
  cluster.coresPerNode = cores;
  cluster.nodeMemoryBytes = static_cast<double>(sysconf(_SC_PHYS_PAGES)) *
                            static_cast<double>(sysconf(_SC_PAGESIZE));
  cluster.byThreads = fitDevices(computing);
  cluster.node = fitLink(communicating);
  return true;
}

int Calibrate::run() {
  if (std::string why = checkOutput(output, "machine.toml"); !why.empty())
    return printError(why);
  simulate::Cluster cluster;
  std::string comment = "# Measured by tessera calibrate "
                        "(docs/Simulation.md).\n";
  if (device == DeviceKind::Cuda) {
    std::optional<MeasuredGpus> gpus = measureGpus(isQuick);
    if (!gpus)
      return 1;
    cluster = std::move(gpus->cluster);
    comment = std::move(gpus->comment);
  } else if (!measureCpu(cluster)) {
    return 1;
  }
  if (!name.empty())
    cluster.name = name;
  std::string path = output.empty() ? "machine.toml" : output;
  std::string text = comment + simulate::clusterText(cluster);
  if (path == "-") {
    standardOutput() << text;
    return 0;
  }
  if (std::error_code error = writeOutput(path, {text}))
    return printError("cannot write '" + path + "': " + error.message());
  standardOutput() << "wrote " << printable(path) << ": "
                   << printable(cluster.name) << "\n";
  return 0;
}
