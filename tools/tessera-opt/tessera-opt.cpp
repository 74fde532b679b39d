//===- tessera-opt.cpp - runs passes on a module --------------------------===//

#include "mlir/IR/MLIRContext.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "tessera/Import/ProgramText.h"
#include "tessera/Pipelines/Compile.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

/// Returns whether a file may be parsed; says why not. What MLIR reads from its
/// standard input, or cannot read, is left to it.
static bool mayParse(StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  std::string why =
      path == "-" || !buffer ? "" : tessera::refusalOf((*buffer)->getBuffer());
  if (why.empty())
    return true;
  llvm::errs() << "error: '" << path
               << "' is no program for the compiler: " << why << "\n";
  return false;
}

int main(int argc, char **argv) {
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
