//===- ExpandKernelMath.cpp - f32 math functions as polynomials -----------===//
// On a GPU exp uses the instruction for powers of two; maxima of f32 and
// rounding to bf16 are one instruction.
//===----------------------------------------------------------------------===//

#include "lib/Codegen/Kernels/Polynomials.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "tessera/Codegen/Kernels/Passes.h"

namespace tessera {
#define GEN_PASS_DEF_EXPANDKERNELMATHPASS
#include "tessera/Codegen/Kernels/Passes.h.inc"
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

/// tanh(x) + 1 -> 2 / (1 + exp(-2x)): one branch of tanh, and exact where the
/// sum would cancel (x far below 0).
struct ExpandTanhPlusOne : OpRewritePattern<arith::AddFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::AddFOp op,
                                PatternRewriter &rewriter) const override {
    auto tanh = op.getLhs().getDefiningOp<math::TanhOp>();
    Value other = op.getRhs();
    if (!tanh) {
      tanh = op.getRhs().getDefiningOp<math::TanhOp>();
      other = op.getLhs();
    }
    if (!tanh || !tanh->hasOneUse() || !matchPattern(other, m_OneFloat()) ||
        !getElementTypeOrSelf(op.getType()).isF32())
      return rewriter.notifyMatchFailure(op, "not tanh(x : f32) + 1");
    FloatBuilder builder(rewriter, op.getLoc(), op.getType());
    rewriter.replaceOp(op, emitTanhPlusOne(builder, tanh.getOperand()));
    return success();
  }
};

/// maximumf(a, b) -> isnan(a) ? a : a > b ? a : b, one max instruction and a
/// blend (minimumf alike). Which of two zeros is returned is not specified. A
/// GPU has an instruction for f32, which is the intrinsic's.
template <typename Op, arith::CmpFPredicate predicate, typename Intrinsic>
struct ExpandExtremum : OpRewritePattern<Op> {
  ExpandExtremum(MLIRContext *context, bool onGpu)
      : OpRewritePattern<Op>(context), onGpu(onGpu) {}

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value a = op.getLhs(), b = op.getRhs();
    if (onGpu && getElementTypeOrSelf(op.getType()).isF32()) {
      rewriter.replaceOpWithNewOp<Intrinsic>(op, a, b);
      return success();
    }
    Value isA = arith::CmpFOp::create(rewriter, loc, predicate, a, b);
    Value chosen = arith::SelectOp::create(rewriter, loc, isA, a, b);
    Value isNan =
        arith::CmpFOp::create(rewriter, loc, arith::CmpFPredicate::UNO, a, a);
    rewriter.replaceOpWithNewOp<arith::SelectOp>(op, isNan, a, chosen);
    return success();
  }

  bool onGpu;
};

/// Rounds to bf16 in CUDA kernels, for which the GPU has one instruction.
struct RoundOnGpu : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isBF16() ||
        !getElementTypeOrSelf(op.getIn().getType()).isF32())
      return rewriter.notifyMatchFailure(op, "not f32 to bf16");
    rewriter.replaceOpWithNewOp<LLVM::FPTruncOp>(op, op.getType(), op.getIn());
    return success();
  }
};

struct ExpandKernelMath
    : tessera::impl::ExpandKernelMathPassBase<ExpandKernelMath> {
  /// Builds the patterns once for all kernels.
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet inSums(context);
    inSums.add<ExpandTanhPlusOne>(context);
    sums = std::move(inSums);
    onCpu = functions(context, /*onGpu=*/false);
    onGpu = functions(context, /*onGpu=*/true);
    return success();
  }

  static FrozenRewritePatternSet functions(MLIRContext *context, bool onGpu) {
    RewritePatternSet patterns(context);
    populateMathF32ExpansionPatterns(patterns, [](StringRef) { return true; });
    if (onGpu)
      patterns
          .add<ExpandFunction<math::ExpOp, tessera::emitExpOnGpu>, RoundOnGpu>(
              context);
    else
      patterns.add<ExpandFunction<math::ExpOp, tessera::emitExp>>(context);
    patterns.add<ExpandFunction<math::LogOp, tessera::emitLog>,
                 ExpandFunction<math::TanhOp, tessera::emitTanh>,
                 ExpandFunction<math::ErfOp, tessera::emitErf>,
                 ExpandFunction<math::CosOp, tessera::emitCos>,
                 ExpandFunction<math::SinOp, tessera::emitSin>, ExpandRsqrt>(
        context);
    patterns.add<ExpandExtremum<arith::MaximumFOp, arith::CmpFPredicate::OGT,
                                LLVM::MaximumOp>,
                 ExpandExtremum<arith::MinimumFOp, arith::CmpFPredicate::OLT,
                                LLVM::MinimumOp>>(context, onGpu);
    return patterns;
  }

  void runOnOperation() override {
    bool isOfGpu =
        getOperation()->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName());
    // Sums with tanh first: its own expansion would hide them.
    for (const FrozenRewritePatternSet *patterns :
         {&sums, isOfGpu ? &onGpu : &onCpu})
      if (failed(applyPatternsGreedily(getOperation(), *patterns)))
        return signalPassFailure();
  }

  FrozenRewritePatternSet sums, onCpu, onGpu;
};

} // namespace
