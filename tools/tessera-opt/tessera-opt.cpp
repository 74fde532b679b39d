//===- tessera-opt.cpp - runs passes on a module --------------------------===//

#include "mlir/IR/MLIRContext.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "tessera/Import/ParseProgram.h"
#include "tessera/Pipelines/Compile.h"
#include "tessera/printable.hpp"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/raw_ostream.h"
#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

using namespace mlir;

static int fail(const Twine &why) {
  llvm::errs() << "error: " << why << "\n";
  return 1;
}

/// MLIR would read files without end, and parse what nests in any depth, also
/// from the standard input.
static int runOnFile(StringRef input, StringRef output,
                     DialectRegistry &registry,
                     const MlirOptMainConfig &config) {
  bool isStandard = input == "-";
  auto program = tessera::readProgramText(isStandard ? "/dev/stdin" : input);
  if (!program)
    return fail(llvm::toString(program.takeError()));
  if (isStandard)
    *program = llvm::MemoryBuffer::getMemBufferCopy((*program)->getBuffer(),
                                                    "<stdin>");
  std::string why;
  auto file = openOutputFile(output, &why);
  if (!file)
    return fail(why);
  if (failed(MlirOptMain(file->os(), std::move(*program), registry, config)))
    return 1;
  file->keep();
  return 0;
}

static int runPasses(int argc, char **argv) {
  tessera::registerCompilerPasses();
  DialectRegistry registry;
  tessera::registerCompilerDialects(registry);
  auto [input, output] = registerAndParseCLIOptions(
      argc, argv, "Tessera optimizer driver\n", registry);
  llvm::InitLLVM signals(argc, argv);
  auto config = MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects() || config.shouldListPasses())
    return asMainReturnCode(MlirOptMain(argc, argv, input, output, registry));
  return runOnFile(input, output, registry, config);
}

/// Prints what comes out of a pipe, escaped, until the pipe is closed.
static void printEscaped(int pipe) {
  tessera::PrintableParts parts;
  auto print = [](const std::string &text) {
    for (size_t done = 0; done < text.size();) {
      ssize_t count = write(STDERR_FILENO, &text[done], text.size() - done);
      if (count < 0)
        return;
      done += static_cast<size_t>(count);
    }
  };
  char block[4096];
  for (ssize_t count; (count = read(pipe, block, sizeof block)) > 0;)
    print(parts.push({block, static_cast<size_t>(count)}));
  print(parts.finish());
}

/// Ends as a child has ended.
static int endAs(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) {
    std::signal(WTERMSIG(status), SIG_DFL);
    std::raise(WTERMSIG(status));
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/// MLIR prints lines and names of a program, which may hold bytes that a
/// terminal obeys. There a child runs the passes, and its errors are escaped
/// also where it ends with a signal.
int main(int argc, char **argv) {
  int ends[2];
  if (!isatty(STDERR_FILENO) || pipe(ends) != 0)
    return runPasses(argc, argv);
  pid_t child = fork();
  if (child < 0)
    return runPasses(argc, argv);
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
    return runPasses(argc, argv);
  }
  close(ends[1]);
  printEscaped(ends[0]);
  return endAs(child);
}
