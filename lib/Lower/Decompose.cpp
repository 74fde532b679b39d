//===- Decompose.cpp - norms and full sums --------------------------------===//

#include "lib/Lower/ChunkedSums.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/RT/ResultMarks.h"
#include "tessera/Lower/Passes.h"
#include <map>

namespace tessera {
#define GEN_PASS_DEF_DECOMPOSEPASS
#include "tessera/Lower/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;

namespace {

/// Builds local nn ops for a tensor "ab..h" normalized over h.
class NormBuilder {
public:
  NormBuilder(Operation *op, Value x)
      : builder(op), loc(op->getLoc()), phase(op->getAttr("nn.phase")), x(x) {
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
  /// The value in that type. Kernels keep what they do not store in registers,
  /// so widening costs nothing and rounding happens once.
  Value inType(Value value, Type type) {
    if (getElementTypeOrSelf(value.getType()) == type)
      return value;
    return mark(
        nn::create<nn::CastOp>(builder, loc, value, TypeAttr::get(type)));
  }
  /// 1 / sqrt(value + epsilon).
  Value rsqrt(Value value, APFloat epsilon) {
    return mark(nn::create<nn::MapOp>(
        builder, loc,
        nn::FunctionAttr::get(builder.getContext(), nn::Function::Rsqrt), value,
        builder.getF64FloatAttr(epsilon.convertToDouble())));
  }
  /// In the type of x, in which the norm is computed.
  Value widened(Value value) {
    return inType(value, getElementTypeOrSelf(x.getType()));
  }
  Value mark(Operation *op) {
    if (phase)
      op->setAttr(nn::NNDialect::kPhaseAttr, phase);
    return op->getResult(0);
  }

  OpBuilder builder;
  Location loc;
  Attribute phase;
  Value x;
  std::string full, rows, h;
  double perElement;
};

/// Mean and 1 / sqrt(var + epsilon) of every row.
struct Statistics {
  Value mean, rstd;
};

/// Whether the op only marks where a value branches, for gradients and plans.
/// An op whose result verify or a role refers to stays.
bool isIdentity(nn::AddOp op) {
  return op.getInputs().size() == 1 && op.getCoefficient(0) == 1.0 &&
         op.getInputs()[0].getType() == op.getType() &&
         !op->hasAttr(rt::RTDialect::kKeepAttr) &&
         !op->hasAttr(rt::RTDialect::kRoleAttr);
}

struct DecomposePass : tessera::impl::DecomposePassBase<DecomposePass> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : ops) {
      Value result;
      if (auto norm = dyn_cast<nn::LayerNormOp>(op))
        result = forward(norm);
      else if (auto grad = dyn_cast<nn::LayerNormGradInputOp>(op))
        result = gradInput(grad);
      else if (auto grad = dyn_cast<nn::LayerNormGradWeightOp>(op))
        result = gradWeight(grad);
      else if (auto norm = dyn_cast<nn::RMSNormOp>(op))
        result = forward(norm);
      else if (auto grad = dyn_cast<nn::RMSNormGradInputOp>(op))
        result = gradInput(grad);
      else if (auto grad = dyn_cast<nn::RMSNormGradWeightOp>(op))
        result = gradWeight(grad);
      else if (auto einsum = dyn_cast<nn::EinsumOp>(op);
               einsum && isChunkedSum(einsum))
        result = chunkedSum(einsum);
      else if (einsum)
        result = fullSum(einsum);
      else if (auto add = dyn_cast<nn::AddOp>(op); add && isIdentity(add))
        result = add.getInputs()[0];
      else if (add && hasManyTerms(add))
        result = sumInParts(add);
      if (!result)
        continue;
      if (result == op->getOperand(0)) {
        op->getResult(0).replaceAllUsesWith(result);
        op->erase();
        continue;
      }
      inheritMarks(result.getDefiningOp(), op);
      op->getResult(0).replaceAllUsesWith(result);
      op->erase();
    }
  }

  Statistics &statistics(NormBuilder &b, APFloat epsilon);
  Value normalized(NormBuilder &b, APFloat epsilon);
  Value forward(nn::LayerNormOp op);
  Value gradInput(nn::LayerNormGradInputOp op);
  Value gradWeight(nn::LayerNormGradWeightOp op);
  Value forward(nn::RMSNormOp op);
  Value gradInput(nn::RMSNormGradInputOp op);
  Value gradWeight(nn::RMSNormGradWeightOp op);
  Value inverseRms(NormBuilder &b, APFloat epsilon);
  Value fullSum(nn::EinsumOp op);
  Value chunkedSum(nn::EinsumOp op);
  Value sumRows(NormBuilder &b, Operation *op, ValueRange factors);
  bool hasManyTerms(nn::AddOp op) const;
  Value sumInParts(nn::AddOp op);

  /// Statistics by input and epsilon: the backward reads the forward's.
  std::map<std::pair<void *, double>, Statistics> known;
  std::map<std::pair<void *, double>, Value> knownRms;
};

Statistics &DecomposePass::statistics(NormBuilder &b, APFloat epsilon) {
  Statistics &stats =
      known[{b.x.getAsOpaquePointer(), epsilon.convertToDouble()}];
  if (stats.mean)
    return stats;
  stats.mean = b.meanOf(b.x);
  Value centered = b.centered(stats.mean);
  Value variance = b.meanOf({centered, centered});
  stats.rstd = b.rsqrt(variance, epsilon);
  return stats;
}

Value DecomposePass::normalized(NormBuilder &b, APFloat epsilon) {
  Statistics stats = statistics(b, epsilon);
  return b.times(b.centered(stats.mean), b.rows, stats.rstd);
}

Value DecomposePass::forward(nn::LayerNormOp op) {
  NormBuilder b(op, op.getInput());
  Value scaled = b.times(normalized(b, op.getEpsilon()), b.h, op.getWeight());
  Value result = b.combine(b.full + "," + b.h + "->" + b.full,
                           {scaled, op.getBias()}, {1, 1});
  return b.inType(result, getElementTypeOrSelf(op.getType()));
}

/// dx = (u - mean(u) - n mean(u n)) rstd with u = g * weight.
Value DecomposePass::gradInput(nn::LayerNormGradInputOp op) {
  NormBuilder b(op, op.getInput());
  Value n = normalized(b, op.getEpsilon());
  Value u = b.times(b.widened(op.getGrad()), b.h, op.getWeight());
  Value along = b.times(n, b.rows, b.meanOf({u, n}));
  std::string spec = b.full + "," + b.rows + "," + b.full + "->" + b.full;
  Value inner = b.combine(spec, {u, b.meanOf(u), along}, {1, -1, -1});
  return b.times(inner, b.rows, statistics(b, op.getEpsilon()).rstd);
}

Value DecomposePass::gradWeight(nn::LayerNormGradWeightOp op) {
  NormBuilder b(op, op.getInput());
  Value n = normalized(b, op.getEpsilon());
  return sumRows(b, op, {b.widened(op.getGrad()), n});
}

/// 1 / sqrt(mean(x^2) + epsilon).
Value DecomposePass::inverseRms(NormBuilder &b, APFloat epsilon) {
  Value &rms = knownRms[{b.x.getAsOpaquePointer(), epsilon.convertToDouble()}];
  if (!rms)
    rms = b.rsqrt(b.meanOf({b.x, b.x}), epsilon);
  return rms;
}

Value DecomposePass::forward(nn::RMSNormOp op) {
  NormBuilder b(op, op.getInput());
  Value n = b.times(b.x, b.rows, inverseRms(b, op.getEpsilon()));
  return b.inType(b.times(n, b.h, op.getWeight()),
                  getElementTypeOrSelf(op.getType()));
}

/// dx = (u - n mean(u n)) r with r = 1 / rms, n = x r, u = g * weight.
Value DecomposePass::gradInput(nn::RMSNormGradInputOp op) {
  NormBuilder b(op, op.getInput());
  Value r = inverseRms(b, op.getEpsilon()), n = b.times(b.x, b.rows, r);
  Value u = b.times(b.widened(op.getGrad()), b.h, op.getWeight());
  Value along = b.times(n, b.rows, b.meanOf({u, n}));
  Value inner =
      b.combine(b.full + "," + b.full + "->" + b.full, {u, along}, {1, -1});
  return b.times(inner, b.rows, r);
}

Value DecomposePass::gradWeight(nn::RMSNormGradWeightOp op) {
  NormBuilder b(op, op.getInput());
  Value n = b.times(b.x, b.rows, inverseRms(b, op.getEpsilon()));
  return sumRows(b, op, {b.widened(op.getGrad()), n});
}

/// The sum over all rows of a product, in chunks where the op adds so.
Value DecomposePass::sumRows(NormBuilder &b, Operation *op,
                             ValueRange factors) {
  Value sum = b.product(b.full + "," + b.full + "->" + b.h, factors);
  auto einsum = sum.getDefiningOp<nn::EinsumOp>();
  Attribute chunks = op->getAttr(dist::DistDialect::kChunkedSumsAttr);
  if (!chunks)
    return sum;
  einsum->setAttr(dist::DistDialect::kChunkedSumsAttr, chunks);
  Value chunked = chunkedSum(einsum);
  if (chunked)
    einsum.erase();
  return chunked;
}

Value DecomposePass::chunkedSum(nn::EinsumOp op) {
  Value sum = lowerChunkedSum(op);
  if (!sum)
    signalPassFailure();
  return sum;
}

/// Operands of a sum of scalars, such as the norms of all gradients: a kernel
/// takes that many. A GPU has 4 KiB for the operands of a kernel.
static constexpr size_t kMostTerms = 256;

bool DecomposePass::hasManyTerms(nn::AddOp op) const {
  return op.getType().getRank() == 0 && !op.getCoefs() &&
         op.getInputs().size() > kMostTerms;
}

/// The same bits: a sum begins with the one before it.
Value DecomposePass::sumInParts(nn::AddOp op) {
  OpBuilder builder(op);
  SmallVector<Value> rest(llvm::reverse(op.getInputs())), terms;
  while (!rest.empty()) {
    while (!rest.empty() && terms.size() < kMostTerms)
      terms.push_back(rest.pop_back_val());
    Value sum = nn::create<nn::AddOp>(
        builder, op.getLoc(),
        builder.getStringAttr(std::string(terms.size() - 1, ',') + "->"), terms,
        DenseF64ArrayAttr());
    inheritPhase(sum.getDefiningOp(), op);
    terms = {sum};
  }
  return terms.front();
}

/// A sum over everything runs in parallel over dimension 0, then over the rest.
Value DecomposePass::fullSum(nn::EinsumOp op) {
  dist::Signature sig = dist::Signature::parse(op.getSpec());
  bool alike = llvm::all_of(
      sig.ins, [&](const std::string &in) { return in == sig.ins[0]; });
  if (!sig.out.empty() || !alike || sig.ins[0].size() < 2)
    return {};
  std::string first(1, sig.ins[0][0]);
  StringRef ins = op.getSpec().split("->").first;
  NormBuilder b(op, op.getInputs()[0]);
  Value partial = b.product((ins + "->" + first).str(), op.getInputs(),
                            op.getScale().convertToDouble());
  if (Attribute spans = op->getAttr(rt::RTDialect::kFactorsAttr))
    partial.getDefiningOp()->setAttr(rt::RTDialect::kFactorsAttr, spans);
  return b.product(first + "->", partial);
}

} // namespace
