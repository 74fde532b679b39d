//===- tessera-opt.cpp - runs passes on a module --------------------------===//

#include "mlir/IR/MLIRContext.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "tessera/Dialect/Dist/Dist.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/RT/RT.h"
#include "tessera/Conversion/KernelToLLVM/Passes.h"
#include "tessera/Conversion/NNToRT/Passes.h"
#include "tessera/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::registerAllPasses();
  tessera::registerTransformsPasses();
  tessera::registerNNToRTPasses();
  tessera::registerKernelToLLVMPasses();
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  registry.insert<tessera::nn::NNDialect, tessera::dist::DistDialect,
                  tessera::rt::RTDialect>();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Tessera optimizer driver\n", registry));
}
