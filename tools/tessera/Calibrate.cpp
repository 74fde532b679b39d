//===- Calibrate.cpp - tessera calibrate ----------------------------------===//

#include "tessera/Options/Counted.h"
#include "tools/tessera/Commands.h"
#include "tools/tessera/calibrate/CalibrateGpus.h"
#include "tools/tessera/calibrate/FitRates.h"
#include "tools/tessera/calibrate/WriteMachine.h"
#include "tools/tessera/report/Output.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Threading.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"
#include <unistd.h>

using namespace llvm;
using namespace tessera;

static std::string nameOf(const DriverOptions &options, int64_t cores) {
  return options.calibrate.name.empty()
             ? sys::getHostCPUName().str() + ", " + counted(cores, "core")
             : options.calibrate.name;
}

/// All programs in turns.
static bool measureAll(const DriverOptions &options, int64_t cores,
                       std::vector<MeasuredProgram> &computing,
                       std::vector<MeasuredProgram> &communicating) {
  bool isQuick = options.calibrate.isQuick;
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

int tessera::runCalibrate(const DriverOptions &options) {
  if (options.calibrate.device == DeviceKind::Cuda)
    return calibrateGpus(options);
  auto cores =
      static_cast<int64_t>(hardware_concurrency().compute_thread_count());
  std::vector<MeasuredProgram> computing, communicating;
  if (!measureAll(options, cores, computing, communicating))
    return 1;
  simulate::Cluster cluster;
  cluster.name = ::nameOf(options, cores);
  cluster.kind = DeviceKind::Cpu;
  cluster.coresPerNode = cores;
  cluster.nodeMemoryBytes = static_cast<double>(sysconf(_SC_PHYS_PAGES)) *
                            static_cast<double>(sysconf(_SC_PAGESIZE));
  cluster.byThreads = fitDevices(computing);
  cluster.node = fitLink(communicating);
  return writeMachine(options,
                      "# Measured by tessera calibrate (docs/Simulation.md).\n",
                      cluster);
}
