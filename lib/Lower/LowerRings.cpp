//===- LowerRings.cpp - attention whose keys go from rank to rank ---------===//
// Ring attention (Liu et al. 2023, arXiv 2310.01889). Ranks are those of one
// mesh axis; rank r starts with the r-th slice of queries, keys and values, or
// with what of them is its share of a causal sequence (RingSlices.h).
//===----------------------------------------------------------------------===//

#include "lib/Lower/AttentionOperands.h"
#include "lib/Lower/RingSlices.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/RT/ResultMarks.h"
#include "tessera/Lower/Passes.h"
#include "tessera/Partition/Factors.h"

namespace tessera {
#define GEN_PASS_DEF_LOWERRINGSPASS
#include "tessera/Lower/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;

namespace {

/// The state that forward and backward of one attention share.
class Ring {
public:
  /// Returns the ring of an attention; null if keys are not split.
  template <typename OpTy> static std::optional<Ring> of(OpTy op);

  LogicalResult lower(nn::AttentionOp op);
  LogicalResult lower(nn::AttentionGradOp op);

private:
  Ring(Operation *op, FactorSpan keys)
      : op(op), b(op), loc(op->getLoc()), keys(std::move(keys)) {}

  template <typename OpTy> LogicalResult place(OpTy op);
  template <typename StepTy, typename OpTy>
  StepTy makeStep(OpTy op, TypeRange types, ValueRange operands,
                  ValueRange earlier);
  RankedTensorType sumType(Value like);
  RingParts narrow(const RingParts &sums, Type type);
  RingParts add(const RingParts &own, const RingParts &home);
  template <typename Body> void walk(RingParts k, RingParts v, Body body);
  template <typename OpTy> OpTy marked(OpTy made);
  Value gathered(Value segments);

  Operation *op;
  OpBuilder b;
  Location loc;
  FactorSpan keys;
  std::optional<RingSlices> slices;
  HeadRange heads{};
  Value batch, querySegments, keySegments;
  FactorSpan queries;
  int64_t step = 0; ///< The step and the pair that are being made.
  RingSlices::Pair pair{};
};

template <typename OpTy> std::optional<Ring> Ring::of(OpTy op) {
  std::optional<FactorSpan> keys = spanOf(op, 't');
  return keys ? std::optional(Ring(op, *keys)) : std::nullopt;
}

/// Carries the phase to what replaces the op: forward and backward shift the
/// same keys, and neither keeps them for the other.
template <typename OpTy> OpTy Ring::marked(OpTy made) {
  inheritPhase(made, op);
  return made;
}

/// Segments of all positions, of which a step takes its slices. They are a
/// number per position, so shifts of them would cost more than they save.
Value Ring::gathered(Value segments) {
  if (!segments)
    return {};
  auto type = cast<RankedTensorType>(segments.getType());
  StringAttr axis = keys.cuts[0].axis;
  int64_t positions = type.getDimSize(1) * dist::meshOf(op).getSize(axis);
  auto made = marked(rt::AllGatherOp::create(
      b, loc, type.clone({type.getDimSize(0), positions}), segments,
      b.getStrArrayAttr({axis.getValue()}), b.getI64IntegerAttr(1),
      UnitAttr()));
  made->setAttr("reason", b.getStringAttr("segments of all positions"));
  return made;
}

/// Slices are equal: sequences are units, see dist-distribute.
template <typename OpTy> LogicalResult Ring::place(OpTy attention) {
  if (attention.getBiasTable())
    return op->emitOpError() << "adds biases by distance, which a ring of keys "
                                "does not; use --context-parallel all-gather "
                                "or ulysses";
  std::optional<FactorSpan> slice = spanOf(op, 's');
  dist::MeshAttr mesh = dist::meshOf(op);
  if (!mesh)
    return op->emitOpError() << "passes keys from rank to rank, but the module "
                                "has no dist.mesh";
  if (!slice || keys.cuts.size() != 1 || slice->cuts.size() != 1 ||
      slice->cuts[0].axis != keys.cuts[0].axis || keys.isPadded(mesh) ||
      (attention.getAttention().getMask().causal && slice->total != keys.total))
    return op->emitOpError()
           << "has " << keys.chunk() << " of " << keys.total
           << " keys on a rank; queries and keys must be split over the same "
              "one axis, into equal slices";
  auto sizeOf = [](Value value) {
    return cast<RankedTensorType>(value.getType()).getDimSize(1);
  };
  if (sizeOf(attention.getKey()) != keys.chunk() ||
      sizeOf(attention.getQuery()) != slice->chunk())
    return op->emitOpError()
           << "has " << sizeOf(attention.getQuery()) << " queries and "
           << sizeOf(attention.getKey()) << " keys on a rank, but its '"
           << rt::RTDialect::kFactorsAttr << "' say " << slice->chunk()
           << " and " << keys.chunk();
  FailureOr<RingSlices> cut =
      RingSlices::of(op, keys, attention.getAttention().getMask());
  if (failed(cut))
    return failure();
  slices = *cut;
  Value query = attention.getQuery();
  StringRef why = whyNotNeighbours(op, query, !attention.getDropout().isZero());
  if (!why.empty())
    return op->emitOpError() << why;
  heads = headRange(b, op, query);
  batch =
      batchStart(b, op, cast<RankedTensorType>(query.getType()).getDimSize(0));
  queries = *slice;
  querySegments = gathered(attention.getQuerySegments());
  keySegments = attention.getKeySegments() == attention.getQuerySegments()
                    ? querySegments
                    : gathered(attention.getKeySegments());
  return success();
}

/// Sums over slices of bf16 values are f32.
RankedTensorType Ring::sumType(Value like) {
  auto type = cast<RankedTensorType>(like.getType());
  return type.getElementType().isBF16()
             ? RankedTensorType::get(type.getShape(), b.getF32Type())
             : type;
}

RingParts Ring::narrow(const RingParts &sums, Type type) {
  Type element = getElementTypeOrSelf(type);
  RingParts narrowed;
  for (Value sum : sums)
    narrowed.push_back(getElementTypeOrSelf(sum.getType()) == element
                           ? sum
                           : marked(nn::create<nn::CastOp>(
                                 b, loc, sum, TypeAttr::get(element))));
  return narrowed;
}

template <typename StepTy, typename OpTy>
StepTy Ring::makeStep(OpTy from, TypeRange types, ValueRange operands,
                      ValueRange earlier) {
  SmallVector<Value> all(operands);
  llvm::append_values(all, batch, heads.start,
                      slices->start(0, pair.queries, queries.chunk()),
                      slices->start(step, pair.keys, keys.chunk()));
  llvm::append_range(all, earlier);
  const int segments = querySegments ? 1 : 0;
  if (segments)
    llvm::append_values(all, querySegments, keySegments);
  // Query, key and value stand before what only backward reads.
  unsigned first = operands.size() > 3 ? 1 : 0;
  auto row = [&](unsigned k) {
    return b.getI64IntegerAttr(rowStride(operands[first + k]));
  };
  auto made = StepTy::create(b, loc, types, all, ArrayRef<NamedAttribute>());
  SmallVector<int32_t> counts(operands.size() + 4, 1);
  counts.append({static_cast<int32_t>(earlier.size()), segments, segments});
  llvm::copy(counts, made.getProperties().operandSegmentSizes.begin());
  made.setRowQAttr(row(0));
  made.setRowKAttr(row(1));
  made.setRowVAttr(row(2));
  made.setHeadsTotalAttr(b.getI64IntegerAttr(heads.total));
  made.setAttentionAttr(pair.masked ? from.getAttention()
                                    : from.getAttention().withMask({}));
  made.setDropoutAttr(from.getDropoutAttr());
  made.setStreamAttr(from.getStreamAttr());
  made.setQueriesTotalAttr(b.getI64IntegerAttr(queries.total));
  made.setKeysTotalAttr(b.getI64IntegerAttr(keys.total));
  return marked(made);
}

/// Calls `body` for each step with the keys and values that are there; the
/// shift of the next ones starts before.
template <typename Body> void Ring::walk(RingParts k, RingParts v, Body body) {
  for (step = 0; step < slices->steps(); ++step) {
    RingParts nextK, nextV;
    if (step + 1 < slices->steps()) {
      nextK = slices->shift(k, "keys of the next slice");
      nextV = slices->shift(v, "values of the next slice");
    }
    body(k, v);
    k = nextK;
    v = nextV;
  }
}

/// Returns the log-sum-exps [b, heads.., s] of a part of the queries.
static Type lseOf(Value query, Type lse) {
  SmallVector<int64_t> shape(cast<RankedTensorType>(lse).getShape());
  shape.back() = cast<RankedTensorType>(query.getType()).getDimSize(1);
  return RankedTensorType::get(shape, getElementTypeOrSelf(lse));
}

/// Returns the dimension of positions in log-sum-exps.
static int64_t positionsOf(Value lse) {
  return cast<RankedTensorType>(lse.getType()).getRank() - 1;
}

/// Returns the results of earlier steps that exist already, to which a step
/// adds its own.
static SmallVector<Value> existing(ArrayRef<Value> values) {
  return llvm::to_vector(llvm::make_filter_range(
      values, [](Value value) { return value != nullptr; }));
}

/// attention(q, k, v) -> steps 0 .. n-1, step i with what i shifts of k and v
/// brought: n-1 times a rank's keys and values instead of all of them at once,
/// and fewer where a window hides slices.
LogicalResult Ring::lower(nn::AttentionOp attention) {
  if (failed(place(attention)))
    return failure();
  Type lse = attention.getLse().getType();
  const auto parts = slices->split(attention.getQuery(), attention.getKey(),
                                   attention.getValue());
  const RingParts &q = parts[0];
  RingParts outputs(q.size()), lses(q.size());
  walk(parts[1], parts[2], [&](const RingParts &k, const RingParts &v) {
    for (RingSlices::Pair next : slices->pairs()) {
      pair = next;
      Value query = q[pair.queries];
      Value &output = outputs[pair.queries], &sum = lses[pair.queries];
      Type types[] = {sumType(query), lseOf(query, lse)};
      auto made = makeStep<rt::RingAttentionOp>(
          attention, types, {query, k[pair.keys], v[pair.keys]},
          existing({output, sum}));
      output = made.getOutput();
      sum = made.getLse();
    }
  });
  Value results[] = {slices->join(narrow(outputs, q[0].getType())),
                     slices->join(lses, positionsOf(attention.getLse()))};
  for (auto [old, value] : llvm::zip(attention.getResults(), results))
    if (DictionaryAttr kept = getResultEntry(old, rt::RTDialect::kKeepAttr))
      setResultEntry(cast<OpResult>(value), rt::RTDialect::kKeepAttr, kept);
  attention.replaceAllUsesWith(ValueRange(results));
  attention.erase();
  return success();
}

RingParts Ring::add(const RingParts &own, const RingParts &home) {
  RingParts sums;
  for (auto [mine, others] : llvm::zip(own, home)) {
    sums.push_back(nn::sumOf(b, loc, mine, others));
    inheritPhase(sums.back().getDefiningOp(), op);
  }
  return sums;
}

/// The gradients of keys and values follow them. Those of a slice start at the
/// rank after its own, gain a term at each rank that sees it and go home from
/// the last of these, with n ranks the one before its own; the term of the
/// slice's own queries has been there since the first step.
LogicalResult Ring::lower(nn::AttentionGradOp attention) {
  if (failed(place(attention)))
    return failure();
  StringRef follow = "gradients that follow their keys";
  Value lse = attention.getLse();
  const auto parts = slices->split(attention.getQuery(), attention.getKey(),
                                   attention.getValue());
  const RingParts &q = parts[0];
  RingParts grads = slices->split(attention.getGrad());
  RingParts outputs = slices->split(attention.getOutput());
  RingParts lses = slices->split(lse, positionsOf(lse));
  RingParts gradQ(q.size()), gradK(q.size()), gradV(q.size()), ownK, ownV;
  walk(parts[1], parts[2], [&](const RingParts &k, const RingParts &v) {
    if (step == 1) {
      ownK = std::exchange(gradK, RingParts(k.size()));
      ownV = std::exchange(gradV, RingParts(v.size()));
    } else if (step > 1) {
      gradK = slices->shift(gradK, follow);
      gradV = slices->shift(gradV, follow);
    }
    for (RingSlices::Pair next : slices->pairs()) {
      pair = next;
      unsigned i = pair.queries, j = pair.keys;
      Type types[] = {sumType(q[i]), sumType(k[j]), sumType(v[j])};
      auto made = makeStep<rt::RingAttentionGradOp>(
          attention, types, {grads[i], q[i], k[j], v[j], outputs[i], lses[i]},
          existing({gradQ[i], gradK[j], gradV[j]}));
      gradQ[i] = made.getGradQuery();
      gradK[j] = made.getGradKey();
      gradV[j] = made.getGradValue();
    }
  });
  if (slices->steps() > 1) {
    gradK = add(ownK, slices->home(gradK, follow));
    gradV = add(ownV, slices->home(gradV, follow));
  }
  const RingParts sums[] = {gradQ, gradK, gradV};
  for (auto [old, sum] : llvm::zip(attention.getResults(), sums))
    old.replaceAllUsesWith(slices->join(narrow(sum, old.getType())));
  attention.erase();
  return success();
}

struct LowerRingsPass : tessera::impl::LowerRingsPassBase<LowerRingsPass> {
  template <typename OpTy> LogicalResult lowerAll() {
    std::vector<std::pair<OpTy, Ring>> rings;
    getOperation().walk([&](OpTy op) {
      if (std::optional<Ring> ring = Ring::of(op))
        rings.push_back({op, std::move(*ring)});
    });
    hasRings |= !rings.empty();
    for (auto &[op, ring] : rings)
      if (failed(ring.lower(op)))
        return failure();
    return success();
  }

  void runOnOperation() override {
    hasRings = false;
    if (failed(lowerAll<nn::AttentionOp>()) ||
        failed(lowerAll<nn::AttentionGradOp>()))
      return signalPassFailure();
    if (!hasRings)
      markAllAnalysesPreserved();
  }

  bool hasRings = false;
};

} // namespace
