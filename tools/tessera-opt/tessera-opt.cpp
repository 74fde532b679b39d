//===- tessera-opt.cpp - runs passes on a module --------------------------===//

#include "mlir/IR/MLIRContext.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "tessera/Pipelines/Compile.h"

int main(int argc, char **argv) {
  mlir::registerAllPasses();
  tessera::registerCompilerPasses();
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  tessera::registerCompilerDialects(registry);
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Tessera optimizer driver\n", registry));
}
