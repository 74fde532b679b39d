//===- tessera-lsp-server.cpp - editor support for our dialects -----------===//

#include "mlir/IR/DialectRegistry.h"
#include "mlir/InitAllDialects.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "tessera/Dialect/Dist/Dist.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/RT/RT.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  registry.insert<tessera::nn::NNDialect, tessera::dist::DistDialect,
                  tessera::rt::RTDialect>();
  return failed(mlir::MlirLspServerMain(argc, argv, registry)) ? 1 : 0;
}
