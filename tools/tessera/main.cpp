//===- main.cpp - the driver ----------------------------------------------===//

#include "Commands.h"
#include <csignal>
#include <cstdio>
#include <dlfcn.h>

using namespace tessera;

int tessera::printError(const std::string &message) {
  std::fprintf(stderr, "error: %s\n", message.c_str());
  return 1;
}

/// What stands between the user and the device that was asked for, or "".
static std::string deviceProblem(const DriverOptions &options) {
  // Compiling for a GPU needs none.
  bool runs =
      options.command == Command::Verify || options.command == Command::Train;
  if (options.device != "cuda" || !runs)
    return "";
  if (!dlopen("libtessera_cuda.so", RTLD_LAZY | RTLD_LOCAL))
    return "device 'cuda' needs the plug-in libtessera_cuda.so, which is not "
           "there; install it where the loader finds it, or use --device cpu";
  return "device 'cuda' is not supported by version " TESSERA_VERSION
         "; use --device cpu";
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
