//===- tessera-opt.cpp - runs passes on a module --------------------------===//

#include "mlir/IR/MLIRContext.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "tessera/Import/ParseProgram.h"
#include "tessera/Pipelines/Compile.h"
#include "tessera/printable.hpp"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

using namespace mlir;

/// Returns whether a file may be parsed; else it says why not. Standard input,
/// pipes, whose text can be read once, and files that cannot be read are left
/// to MLIR.
static bool mayParse(StringRef path) {
  if (path == "-" || !llvm::sys::fs::is_regular_file(path))
    return true;
  auto buffer = llvm::MemoryBuffer::getFile(path);
  std::string why = buffer ? tessera::refusalOf((*buffer)->getBuffer()) : "";
  if (why.empty())
    return true;
  llvm::errs() << "error: '" << path
               << "' is no program for the compiler: " << why << "\n";
  return false;
}

static int runPasses(int argc, char **argv) {
  registerAllPasses();
  tessera::registerCompilerPasses();
  DialectRegistry registry;
  registerAllDialects(registry);
  tessera::registerCompilerDialects(registry);
  auto [input, output] = registerAndParseCLIOptions(
      argc, argv, "Tessera optimizer driver\n", registry);
  if (!mayParse(input))
    return 1;
  return asMainReturnCode(MlirOptMain(argc, argv, input, output, registry));
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
