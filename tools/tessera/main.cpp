//===- main.cpp - the driver ----------------------------------------------===//

#include "tools/tessera/Commands.h"
#include "tools/tessera/report/DeviceReport.h"
#include "tools/tessera/report/PrintError.h"
#include <csignal>

using namespace tessera;

/// Why the device that was asked for cannot be used, or "". The user learns it
/// before minutes of compilation.
static std::string deviceProblem(const DriverOptions &options) {
  // Compiling for a GPU needs none.
  bool runs =
      options.command == Command::Train || options.command == Command::Verify;
  return options.plan.device.target.isCuda() && runs
             ? readDeviceReport(DeviceKind::Cuda).problem
             : "";
}

/// Makes a file that grows beyond `ulimit -f` an error of its write, with a
/// message, as a full disk is. Blocked, not ignored: LLVM sets handlers of its
/// own.
static void reportFileLimit() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGXFSZ);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

int main(int argc, char **argv) {
  reportFileLimit();
  DriverOptions options;
  int exitCode = 0;
  if (!parseCommandLine(argc, argv, options, exitCode))
    return exitCode;
  if (std::string problem = deviceProblem(options); !problem.empty())
    return printError(problem);
  switch (options.command) {
  case Command::Doctor:
    return runDoctor(options);
  case Command::Import:
    return runImport(options);
  case Command::Compile:
    return runCompile(options);
  case Command::Report:
    return runReport(options);
  case Command::Verify:
    return runVerify(options);
  case Command::Train:
    return runTrain(options);
  }
  return 1;
}
