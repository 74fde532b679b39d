//===- Norms.cpp - norms as products, sums and row means ------------------===//

#include "lib/Lower/Ops/Replace.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Lower/Patterns.h"
#include <map>
#include <memory>

using namespace mlir;
using namespace tessera;

namespace {

/// Mean and 1 / sqrt(var + epsilon) of every row.
struct Statistics {
  Value mean, rstd;
};

/// Statistics by input and epsilon: the backward, which the walk visits later,
/// reads the forward's.
struct KnownStatistics {
  std::map<std::pair<void *, double>, Statistics> layerNorms;
  std::map<std::pair<void *, double>, Value> rmsNorms; ///< 1 / rms
};

/// Builds local nn ops for a tensor "ab..h" normalized over h.
class NormBuilder {
public:
  NormBuilder(OpBuilder &builder, KnownStatistics &known, Operation *op,
              Value x, APFloat epsilon)
      : builder(builder), known(known), loc(op->getLoc()),
        phase(op->getAttr(nn::NNDialect::kPhaseAttr)), x(x),
        epsilon(epsilon.convertToDouble()) {
    auto type = cast<RankedTensorType>(x.getType());
    full = dist::Signature::elementwise(type.getRank(), 1).out;
    rows = full.substr(0, full.size() - 1);
    h = full.substr(full.size() - 1);
    perElement = 1.0 / static_cast<double>(type.getShape().back());
  }

  Value product(const std::string &spec, ValueRange inputs, double scale = 1) {
    return mark(nn::create<nn::EinsumOp>(
        builder, loc, builder.getStringAttr(spec), inputs,
        builder.getF64FloatAttr(scale), TypeAttr()));
  }
  Value combine(const std::string &spec, ValueRange inputs,
                ArrayRef<double> coefs) {
    return mark(nn::create<nn::AddOp>(builder, loc, builder.getStringAttr(spec),
                                      inputs,
                                      builder.getDenseF64ArrayAttr(coefs)));
  }
  Value meanOf(ValueRange factors) {
    std::string ins = full;
    for (unsigned k = 1; k < factors.size(); ++k)
      ins += "," + full;
    return product(ins + "->" + rows, factors, perElement);
  }
  Value centered(Value mean) {
    return combine(full + "," + rows + "->" + full, {x, mean}, {1, -1});
  }
  Value times(Value value, const std::string &letters, Value factor) {
    return product(full + "," + letters + "->" + full, {value, factor});
  }
  /// Returns the value in that type. Kernels keep what they do not store in
  /// registers, so widening costs nothing and rounding happens once.
  Value inType(Value value, Type type) {
    if (getElementTypeOrSelf(value.getType()) == type)
      return value;
    return mark(
        nn::create<nn::CastOp>(builder, loc, value, TypeAttr::get(type)));
  }
  /// Returns the value in the type of x, in which the norm is computed.
  Value widened(Value value) {
    return inType(value, getElementTypeOrSelf(x.getType()));
  }

  Statistics statistics();
  /// (x - mean) rstd
  Value normalized();
  /// 1 / sqrt(mean(x^2) + epsilon)
  Value inverseRms();

  const std::string &allFactors() const { return full; }
  const std::string &rowFactors() const { return rows; }
  const std::string &columnFactor() const { return h; }

private:
  /// 1 / sqrt(value + epsilon)
  Value rsqrt(Value value) {
    return mark(nn::create<nn::MapOp>(
        builder, loc,
        nn::FunctionAttr::get(builder.getContext(), nn::Function::Rsqrt), value,
        builder.getF64FloatAttr(epsilon)));
  }
  Value mark(Operation *op) {
    if (phase)
      op->setAttr(nn::NNDialect::kPhaseAttr, phase);
    return op->getResult(0);
  }

  OpBuilder &builder;
  KnownStatistics &known;
  Location loc;
  Attribute phase;
  Value x;
  double epsilon;
  std::string full, rows, h;
  double perElement;
};

Statistics NormBuilder::statistics() {
  Statistics &stats = known.layerNorms[{x.getAsOpaquePointer(), epsilon}];
  if (stats.mean)
    return stats;
  stats.mean = meanOf(x);
  Value difference = centered(stats.mean);
  stats.rstd = rsqrt(meanOf({difference, difference}));
  return stats;
}

Value NormBuilder::normalized() {
  Statistics stats = statistics();
  return times(centered(stats.mean), rows, stats.rstd);
}

Value NormBuilder::inverseRms() {
  Value &rms = known.rmsNorms[{x.getAsOpaquePointer(), epsilon}];
  if (!rms)
    rms = rsqrt(meanOf({x, x}));
  return rms;
}

/// A pattern that builds one value from the statistics of its input.
template <typename OpTy> struct NormPattern : OpRewritePattern<OpTy> {
  NormPattern(MLIRContext *context, std::shared_ptr<KnownStatistics> known)
      : OpRewritePattern<OpTy>(context), known(std::move(known)) {}

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const final {
    NormBuilder b(rewriter, *known, op, op.getInput(), op.getEpsilon());
    return replaceMarked(rewriter, op, build(b, op).getDefiningOp());
  }
  virtual Value build(NormBuilder &b, OpTy op) const = 0;

  std::shared_ptr<KnownStatistics> known;
};

/// layer_norm(x) -> n weight + bias with n = (x - mean) rstd
struct LayerNorm : NormPattern<nn::LayerNormOp> {
  using NormPattern::NormPattern;
  Value build(NormBuilder &b, nn::LayerNormOp op) const override {
    const std::string &full = b.allFactors(), &h = b.columnFactor();
    Value scaled = b.times(b.normalized(), h, op.getWeight());
    Value result =
        b.combine(full + "," + h + "->" + full, {scaled, op.getBias()}, {1, 1});
    return b.inType(result, getElementTypeOrSelf(op.getType()));
  }
};

/// dx -> (u - mean(u) - n mean(u n)) rstd with u = g weight
struct LayerNormGradInput : NormPattern<nn::LayerNormGradInputOp> {
  using NormPattern::NormPattern;
  Value build(NormBuilder &b, nn::LayerNormGradInputOp op) const override {
    const std::string &full = b.allFactors(), &rows = b.rowFactors();
    Value n = b.normalized();
    Value u =
        b.times(b.widened(op.getGrad()), b.columnFactor(), op.getWeight());
    Value along = b.times(n, rows, b.meanOf({u, n}));
    Value inner = b.combine(full + "," + rows + "," + full + "->" + full,
                            {u, b.meanOf(u), along}, {1, -1, -1});
    return b.times(inner, rows, b.statistics().rstd);
  }
};

/// rms_norm(x) -> n weight with n = x r, r = 1 / rms
struct RMSNorm : NormPattern<nn::RMSNormOp> {
  using NormPattern::NormPattern;
  Value build(NormBuilder &b, nn::RMSNormOp op) const override {
    Value n = b.times(op.getInput(), b.rowFactors(), b.inverseRms());
    return b.inType(b.times(n, b.columnFactor(), op.getWeight()),
                    getElementTypeOrSelf(op.getType()));
  }
};

/// dx -> (u - n mean(u n)) r with u = g weight
struct RMSNormGradInput : NormPattern<nn::RMSNormGradInputOp> {
  using NormPattern::NormPattern;
  Value build(NormBuilder &b, nn::RMSNormGradInputOp op) const override {
    const std::string &full = b.allFactors(), &rows = b.rowFactors();
    Value r = b.inverseRms(), n = b.times(op.getInput(), rows, r);
    Value u =
        b.times(b.widened(op.getGrad()), b.columnFactor(), op.getWeight());
    Value along = b.times(n, rows, b.meanOf({u, n}));
    Value inner =
        b.combine(full + "," + full + "->" + full, {u, along}, {1, -1});
    return b.times(inner, rows, r);
  }
};

/// Builds the sum over all rows of g n, a product if it is added in chunks.
Value sumOfRows(NormBuilder &b, Operation *op, Value grad, Value n) {
  const std::string &full = b.allFactors();
  Value sum = b.product(full + "," + full + "->" + b.columnFactor(),
                        {b.widened(grad), n});
  if (Attribute chunks = op->getAttr(dist::DistDialect::kChunkedSumsAttr))
    sum.getDefiningOp()->setAttr(dist::DistDialect::kChunkedSumsAttr, chunks);
  return sum;
}

/// dw -> sum over rows of g n
struct LayerNormGradWeight : NormPattern<nn::LayerNormGradWeightOp> {
  using NormPattern::NormPattern;
  Value build(NormBuilder &b, nn::LayerNormGradWeightOp op) const override {
    Value n = b.normalized();
    return sumOfRows(b, op, op.getGrad(), n);
  }
};

/// dw -> sum over rows of g n
struct RMSNormGradWeight : NormPattern<nn::RMSNormGradWeightOp> {
  using NormPattern::NormPattern;
  Value build(NormBuilder &b, nn::RMSNormGradWeightOp op) const override {
    Value n = b.times(op.getInput(), b.rowFactors(), b.inverseRms());
    return sumOfRows(b, op, op.getGrad(), n);
  }
};

} // namespace

void tessera::populateNormPatterns(RewritePatternSet &patterns) {
  auto known = std::make_shared<KnownStatistics>();
  patterns.add<LayerNorm, LayerNormGradInput, LayerNormGradWeight, RMSNorm,
               RMSNormGradInput, RMSNormGradWeight>(patterns.getContext(),
                                                    known);
}
