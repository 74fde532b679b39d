//===- main.cpp - the driver ----------------------------------------------===//

#include "tessera/tessera.h"
#include "tools/tessera/options/CommandLine.h"
#include "tools/tessera/options/ExitStatus.h"
#include "tools/tessera/output/Output.h"
#include "tools/tessera/output/PrintError.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Process.h"
#include <csignal>

using namespace tessera;

/// Makes a file that grows beyond `ulimit -f` an error of its write, with a
/// message, as a full disk is. Blocked, not ignored: LLVM sets handlers of its
/// own.
static void reportFileLimit() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGXFSZ);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

static int run(Command &command) {
  // A process that is alone only finds what is wrong with TESSERA_CPU.
  if (tsr_processors processors = {};
      tsr_processors_compare(nullptr, &processors) != TSR_OK)
    return printError(tsr_last_error());
  const int status = command.run();
  // A run that fails leaves others waiting: it ends without them.
  if ((status == 0 || status == kStoppedExitCode) && tsr_mpi_finish() != TSR_OK)
    return printError(tsr_last_error());
  return status;
}

/// A verdict is printed already; an error is not one.
static void printErrorsAsJson(llvm::ArrayRef<char *> words) {
  if (words.size() < 2 || !llvm::is_contained(words, llvm::StringRef("--json")))
    return;
  for (const RegisteredCommand &command : registeredCommands())
    if (words[1] == llvm::StringRef(command.name) && command.printErrorAsJson)
      command.printErrorAsJson(printedErrors());
}

int main(int argc, char **argv) {
  // A file of ours must not become the standard output.
  if (std::error_code error =
          llvm::sys::Process::FixupStandardFileDescriptors())
    return printError("cannot open /dev/null: " + error.message());
  reportFileLimit();
  ParsedCommand parsed = parseCommandLine(argc, argv);
  if (!parsed.error.empty())
    noteError(parsed.error);
  int exitCode = parsed.command ? run(*parsed.command) : parsed.exitCode;
  if (!printedErrors().empty())
    printErrorsAsJson(llvm::ArrayRef(argv, argc));
  std::error_code error = finishOutput();
  // A run may have been stopped because nobody reads its output.
  if (error && exitCode != kStoppedExitCode)
    return printError("cannot write the standard output: " + error.message());
  return exitCode;
}
