//===- KernelOpInterface.cpp - ops that kernels can compute ---------------===//

#include "tessera/Lower/Kernels/KernelOpInterface.h"
#include "lib/Lower/Kernels/KernelOps.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/RT/RT.h"

using namespace mlir;
using namespace tessera;

#include "tessera/Lower/Kernels/KernelOpInterface.cpp.inc"

void tessera::registerKernelOps(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, nn::NNDialect *) {
    attachPointwiseKernelOps(*context);
    attachProductKernelOps(*context);
    attachLookupKernelOps(*context);
  });
  registry.addExtension(+[](MLIRContext *context, dist::DistDialect *) {
    attachMaskKernelOp(*context);
  });
  registry.addExtension(+[](MLIRContext *context, rt::RTDialect *) {
    attachRankKernelOps(*context);
  });
}
