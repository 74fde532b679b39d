//===- ExpandKernelMath.cpp - f32 math functions as polynomials -----------===//

#include "Polynomials.h"
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
using tessera::FloatBuilder;

namespace {

using Emit = Value (*)(FloatBuilder &, Value);

/// f(x : f32) -> a polynomial of x.
template <typename Op, Emit emit> struct ExpandFunction : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return rewriter.notifyMatchFailure(op, "not f32");
    FloatBuilder builder(rewriter, op.getLoc(), op.getType());
    rewriter.replaceOp(op, emit(builder, op.getOperand()));
    return success();
  }
};

/// rsqrt(x) -> 1 / sqrt(x): two correctly rounded instructions.
struct ExpandRsqrt : OpRewritePattern<math::RsqrtOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::RsqrtOp op,
                                PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return rewriter.notifyMatchFailure(op, "not f32");
    FloatBuilder builder(rewriter, op.getLoc(), op.getType());
    Value root = math::SqrtOp::create(rewriter, op.getLoc(), op.getOperand());
    rewriter.replaceOp(op, builder.div(builder.constant(1.0f), root));
    return success();
  }
};

struct ExpandKernelMath
    : tessera::impl::ExpandKernelMathPassBase<ExpandKernelMath> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateMathF32ExpansionPatterns(patterns, [](StringRef) { return true; });
    patterns.add<ExpandFunction<math::ExpOp, tessera::emitExp>,
                 ExpandFunction<math::LogOp, tessera::emitLog>,
                 ExpandFunction<math::TanhOp, tessera::emitTanh>,
                 ExpandFunction<math::ErfOp, tessera::emitErf>,
                 ExpandFunction<math::CosOp, tessera::emitCos>,
                 ExpandFunction<math::SinOp, tessera::emitSin>, ExpandRsqrt>(
        &getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
