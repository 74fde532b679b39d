//===- main.cpp - the driver ----------------------------------------------===//

#include "tessera/tessera.h"
#include "tools/tessera/Commands.h"
#include "tools/tessera/input/ModelFiles.h"
#include "tools/tessera/options/ExitStatus.h"
#include "tools/tessera/options/FileChecks.h"
#include "tools/tessera/report/DeviceReport.h"
#include "tools/tessera/report/Output.h"
#include "tools/tessera/report/PrintError.h"
#include "tools/tessera/train/RunRecord.h"
#include "llvm/Support/Process.h"
#include <csignal>

using namespace tessera;

/// Returns why the device that was asked for cannot be used, or "". The user
/// learns it before minutes of compilation.
static std::string deviceProblem(const DriverOptions &options) {
  // Compiling for a GPU needs none.
  bool runs = options.isRun() || options.command == Command::Verify ||
              options.command == Command::Generate ||
              options.command == Command::Encode;
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

static int runCommand(const DriverOptions &options) {
  if (std::string problem = checkFiles(options); !problem.empty())
    return printError(problem);
  if (std::string problem = deviceProblem(options); !problem.empty())
    return printError(problem);
  // A process that is alone only finds what is wrong with TESSERA_CPU.
  if (tsr_processors processors = {};
      tsr_processors_compare(nullptr, &processors) != TSR_OK)
    return printError(tsr_last_error());
  switch (options.command) {
  case Command::Doctor:
    return runDoctor(options);
  case Command::Import:
    return runImport(options);
  case Command::Compile:
    return runCompile(options);
  case Command::Report:
    return runReport(options);
  case Command::Simulate:
    return runSimulate(options);
  case Command::Calibrate:
    return runCalibrate(options);
  case Command::Plan:
    return runPlan(options);
  case Command::Explore:
    return runExplore(options);
  case Command::Sign:
    return runSign(options);
  case Command::Merge:
    return runMerge(options);
  case Command::Verify:
    return runVerify(options);
  case Command::Tokenize:
    return runTokenize(options);
  case Command::Train:
    return runTrain(options);
  case Command::Evaluate:
    return runEvaluate(options);
  case Command::Generate:
    return runGenerate(options);
  case Command::Encode:
    return runEncode(options);
  }
  return 1;
}

int main(int argc, char **argv) {
  // A file of ours must not become the standard output.
  if (std::error_code error =
          llvm::sys::Process::FixupStandardFileDescriptors())
    return printError("cannot open /dev/null: " + error.message());
  reportFileLimit();
  DriverOptions options;
  ParseResult parsed = parseCommandLine(argc, argv, options, readRecipe);
  if (!parsed.error.empty())
    noteError(parsed.error);
  options.model = modelIn(options.model);
  int exitCode = parsed.goesOn ? runCommand(options) : parsed.exitCode;
  // A verdict is printed already; an error is not one.
  if (asksForJson(argc, argv, "verify") && !printedErrors().empty())
    printVerifyError(printedErrors());
  std::error_code error = finishOutput();
  // A run may have been stopped because nobody reads its output.
  if (error && exitCode != kStoppedExitCode)
    return printError("cannot write the standard output: " + error.message());
  return exitCode;
}
