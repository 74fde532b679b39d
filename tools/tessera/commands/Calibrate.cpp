//===- Calibrate.cpp - tessera calibrate ----------------------------------===//

#include "tessera/Calibrate/Calibrate.h"
#include "tessera/Target/OutputFile.h"
#include "tools/tessera/input/CompilerContext.h"
#include "tools/tessera/options/Command.h"
#include "tools/tessera/options/FileChecks.h"
#include "tools/tessera/options/GroupDeclarations.h"
#include "tools/tessera/output/Output.h"
#include "tools/tessera/output/PrintError.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace tessera;

namespace {

class Calibrate : public Command {
public:
  void declare(CLI::App &app) override;
  void check(CLI::App &app) override { requireOneProcess(app); }
  int run() override;

private:
  mlir::FailureOr<MeasuredMachine> measure() const;

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

mlir::FailureOr<MeasuredMachine> Calibrate::measure() const {
  CompilerContext compiler;
  CalibrationOptions how;
  how.isQuick = isQuick;
  if (!isQuick)
    how.progress = [](const std::string &what) {
      standardError() << what << "\n";
    };
  return device == DeviceKind::Cuda ? measureGpus(compiler.context, how)
                                    : measureCpus(compiler.context, how);
}

int Calibrate::run() {
  if (std::string why = checkOutput(output, "machine.toml"); !why.empty())
    return printError(why);
  mlir::FailureOr<MeasuredMachine> machine = measure();
  if (failed(machine))
    return 1;
  simulate::Cluster &cluster = machine->cluster;
  if (!name.empty())
    cluster.name = name;
  std::string path = output.empty() ? "machine.toml" : output;
  std::string text = machine->comment + simulate::clusterText(cluster);
  if (path == "-") {
    standardOutput() << text;
    return 0;
  }
  if (printIfError(writeFile(path, {text})))
    return 1;
  standardOutput() << "wrote " << printable(path) << ": "
                   << printable(cluster.name) << "\n";
  return 0;
}
