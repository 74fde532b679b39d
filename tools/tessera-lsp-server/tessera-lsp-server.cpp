//===- tessera-lsp-server.cpp - editor support for our dialects -----------===//

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "tessera/Pipelines/Compile.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  tessera::registerCompilerDialects(registry);
  return failed(mlir::MlirLspServerMain(argc, argv, registry)) ? 1 : 0;
}
