//===- ExpandKernelMath.cpp - f32 math functions as polynomials -----------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "tessera/Conversion/KernelToLLVM/Passes.h"

namespace tessera {
#define GEN_PASS_DEF_EXPANDKERNELMATHPASS
#include "tessera/Conversion/KernelToLLVM/Passes.h.inc"
} // namespace tessera

using namespace mlir;

namespace {
struct ExpandKernelMath
    : tessera::impl::ExpandKernelMathPassBase<ExpandKernelMath> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateMathPolynomialApproximationPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
