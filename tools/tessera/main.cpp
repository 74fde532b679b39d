//===- main.cpp - the driver ----------------------------------------------===//

#include "Commands.h"
#include "DeviceReport.h"
#include <cstdio>

using namespace tessera;

int tessera::printError(const std::string &message) {
  std::fprintf(stderr, "error: %s\n", message.c_str());
  return 1;
}

/// What stands between the user and the device that was asked for, or "". Told
/// before minutes of compilation.
static std::string deviceProblem(const DriverOptions &options) {
  if (options.device != "cuda")
    return "";
  if (options.command == Command::Train || options.command == Command::Verify)
    if (std::string problem = readDeviceReport("cuda").problem;
        !problem.empty())
      return problem;
  if (options.isArtifact())
    return "";
  return "version " TESSERA_VERSION
         " does not compile for device 'cuda'; use --device cpu";
}

int main(int argc, char **argv) {
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
