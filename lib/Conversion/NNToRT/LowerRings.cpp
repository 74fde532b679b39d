//===- LowerRings.cpp - attention whose keys go from rank to rank ---------===//
// Ring attention (Liu et al. 2023, arXiv 2310.01889). Ranks are those of one
// mesh axis; rank r starts with the r-th slice of queries, keys and values.
//===----------------------------------------------------------------------===//

#include "AttentionOperands.h"
#include "Marks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "tessera/Conversion/NNToRT/Factors.h"
#include "tessera/Conversion/NNToRT/Passes.h"
#include "tessera/Dialect/NN/NN.h"

namespace tessera {
#define GEN_PASS_DEF_LOWERRINGSPASS
#include "tessera/Conversion/NNToRT/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;

namespace {

/// What forward and backward of one attention share.
class Ring {
public:
  /// Null where keys are not split.
  template <typename OpTy> static std::optional<Ring> of(OpTy op);

  LogicalResult lower(nn::AttentionOp op);
  LogicalResult lower(nn::AttentionGradOp op);

private:
  Ring(Operation *op, FactorSpan keys)
      : op(op), b(op), loc(op->getLoc()), keys(std::move(keys)) {}

  template <typename OpTy> LogicalResult place(OpTy op);
  Value contiguous(Value value);
  Value shift(Value value, StringRef what);
  Value keyStart(int64_t step);
  template <typename StepTy, typename OpTy>
  StepTy makeStep(OpTy op, TypeRange types, ValueRange operands, int64_t step,
                  ValueRange earlier);
  RankedTensorType sumType(Value like);
  Value narrow(Value sum, Type type);
  template <typename OpTy> OpTy marked(OpTy made);

  Operation *op;
  OpBuilder b;
  Location loc;
  FactorSpan keys;
  int64_t ranks = 1;
  HeadRange heads{};
  Value batch, queryStart;
  int64_t queries = 0;
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

/// Slices are equal: sequences are units, see dist-distribute.
template <typename OpTy> LogicalResult Ring::place(OpTy attention) {
  if (attention.getBiasTable())
    return op->emitOpError() << "adds biases by distance, which a ring of keys "
                                "does not; use --context-parallel all-gather "
                                "or ulysses";
  std::optional<FactorSpan> slice = spanOf(op, 's');
  dist::MeshAttr mesh = dist::meshOf(op);
  if (!slice || keys.cuts.size() != 1 || slice->cuts.size() != 1 ||
      slice->cuts[0].axis != keys.cuts[0].axis || keys.isPadded(mesh))
    return op->emitOpError()
           << "has " << keys.chunk() << " of " << keys.total
           << " keys on a rank; queries and keys must be split over the same "
              "one axis, into equal slices";
  Value query = attention.getQuery();
  FailureOr<HeadRange> range =
      headRange(b, op, query, !attention.getDropout().isZero());
  if (failed(range))
    return failure();
  heads = *range;
  batch =
      batchStart(b, op, cast<RankedTensorType>(query.getType()).getDimSize(0));
  queryStart = startOf(b, loc, slice);
  queries = slice->total;
  ranks = mesh.getSize(keys.cuts[0].axis);
  return success();
}

/// Where the keys begin that a rank has in a step: those of rank r - step.
Value Ring::keyStart(int64_t step) {
  Value rank = rt::CoordOp::create(b, loc, b.getI64Type(), keys.cuts[0].axis);
  if (step > 0) {
    Value ahead =
        arith::AddIOp::create(b, loc, rank, i64(b, loc, ranks - step));
    rank = arith::RemUIOp::create(b, loc, ahead, i64(b, loc, ranks));
  }
  return arith::MulIOp::create(b, loc, rank, i64(b, loc, keys.chunk()));
}

Value Ring::contiguous(Value value) {
  if (rowStride(value) == rowElements(value))
    return value;
  return marked(rt::CopyOp::create(b, loc, value.getType(), value));
}

Value Ring::shift(Value value, StringRef what) {
  auto shifted = marked(rt::ShiftOp::create(
      b, loc, value.getType(), value,
      b.getStrArrayAttr({keys.cuts[0].axis.getValue()}), UnitAttr()));
  shifted->setAttr("reason", b.getStringAttr(what));
  return shifted;
}

/// Sums over slices of bf16 values are f32.
RankedTensorType Ring::sumType(Value like) {
  auto type = cast<RankedTensorType>(like.getType());
  return type.getElementType().isBF16()
             ? RankedTensorType::get(type.getShape(), b.getF32Type())
             : type;
}

Value Ring::narrow(Value sum, Type type) {
  Type element = getElementTypeOrSelf(type);
  if (getElementTypeOrSelf(sum.getType()) == element)
    return sum;
  return marked(nn::create<nn::CastOp>(b, loc, sum, TypeAttr::get(element)));
}

template <typename StepTy, typename OpTy>
StepTy Ring::makeStep(OpTy from, TypeRange types, ValueRange operands,
                      int64_t step, ValueRange earlier) {
  SmallVector<Value> all(operands);
  llvm::append_values(all, batch, heads.start, queryStart, keyStart(step));
  llvm::append_range(all, earlier);
  // Query, key and value stand before what only backward reads.
  unsigned first = operands.size() > 3 ? 1 : 0;
  auto row = [&](unsigned k) {
    return b.getI64IntegerAttr(rowStride(operands[first + k]));
  };
  auto made = StepTy::create(b, loc, types, all, ArrayRef<NamedAttribute>());
  made.setRowQAttr(row(0));
  made.setRowKAttr(row(1));
  made.setRowVAttr(row(2));
  made.setHeadsTotalAttr(b.getI64IntegerAttr(heads.total));
  made.setScaleAttr(from.getScaleAttr());
  made.setCausalAttr(b.getBoolAttr(from.getCausal()));
  made.setDropoutAttr(from.getDropoutAttr());
  made.setStreamAttr(from.getStreamAttr());
  made.setQueriesTotalAttr(b.getI64IntegerAttr(queries));
  made.setKeysTotalAttr(b.getI64IntegerAttr(keys.total));
  return marked(made);
}

/// attention(q, k, v) -> steps 0 .. n-1, step i with what i shifts of k and v
/// brought: n-1 times a rank's keys and values instead of all of them at once.
LogicalResult Ring::lower(nn::AttentionOp attention) {
  if (failed(place(attention)))
    return failure();
  Value q = attention.getQuery(), k = attention.getKey(),
        v = attention.getValue();
  SmallVector<Type> types = {sumType(attention.getOutput()),
                             attention.getLse().getType()};
  SmallVector<Value> sums;
  for (int64_t step = 0; step < ranks; ++step) {
    Value nextK, nextV;
    if (step + 1 < ranks) {
      nextK = shift(contiguous(k), "keys of the next slice");
      nextV = shift(contiguous(v), "values of the next slice");
    }
    auto made =
        makeStep<rt::RingAttentionOp>(attention, types, {q, k, v}, step, sums);
    sums = llvm::to_vector_of<Value>(made.getResults());
    k = nextK;
    v = nextV;
  }
  Value output = narrow(sums[0], attention.getOutput().getType());
  for (auto [old, value] :
       llvm::zip(attention.getResults(), ValueRange{output, sums[1]}))
    if (DictionaryAttr kept = getResultEntry(old, rt::RTDialect::kKeepAttr))
      setResultEntry(cast<OpResult>(value), rt::RTDialect::kKeepAttr, kept);
  attention.replaceAllUsesWith(ValueRange{output, sums[1]});
  attention.erase();
  return success();
}

/// The gradients of keys and values follow them: those of a slice start at the
/// rank behind its own, gain an addend at each and come home in n-1 shifts,
/// where the addend of its own queries has been since the first step.
LogicalResult Ring::lower(nn::AttentionGradOp attention) {
  if (failed(place(attention)))
    return failure();
  Value q = attention.getQuery(), k = attention.getKey(),
        v = attention.getValue();
  SmallVector<Type> types = {sumType(q), sumType(k), sumType(v)};
  SmallVector<Value> own, sums;
  for (int64_t step = 0; step < ranks; ++step) {
    Value nextK, nextV;
    if (step + 1 < ranks) {
      nextK = shift(contiguous(k), "keys of the next slice");
      nextV = shift(contiguous(v), "values of the next slice");
    }
    for (Value &sum : MutableArrayRef(sums).drop_front(sums.empty() ? 0 : 1))
      sum = shift(sum, "gradients that follow their keys");
    auto made = makeStep<rt::RingAttentionGradOp>(attention, types,
                                                  {attention.getGrad(), q, k, v,
                                                   attention.getOutput(),
                                                   attention.getLse()},
                                                  step, sums);
    sums = llvm::to_vector_of<Value>(made.getResults());
    if (step == 0) {
      own = sums;
      sums.resize(1);
    }
    k = nextK;
    v = nextV;
  }
  for (unsigned r : {1, 2}) {
    Value home = shift(sums[r], "gradients that follow their keys");
    int64_t rank = cast<RankedTensorType>(home.getType()).getRank();
    std::string letters = dist::Signature::elementwise(rank, 1).out;
    auto sum = nn::create<nn::AddOp>(
        b, loc, b.getStringAttr(letters + "," + letters + "->" + letters),
        ValueRange{own[r], home}, DenseF64ArrayAttr());
    sums[r] = marked(sum);
  }
  for (auto [old, sum] : llvm::zip(attention.getResults(), sums))
    old.replaceAllUsesWith(narrow(sum, old.getType()));
  attention.erase();
  return success();
}

struct LowerRingsPass : tessera::impl::LowerRingsPassBase<LowerRingsPass> {
  template <typename OpTy> LogicalResult lowerAll() {
    SmallVector<OpTy> ops;
    getOperation().walk([&](OpTy op) { ops.push_back(op); });
    for (OpTy op : ops)
      if (std::optional<Ring> ring = Ring::of(op))
        if (failed(ring->lower(op)))
          return failure();
    return success();
  }

  void runOnOperation() override {
    if (failed(lowerAll<nn::AttentionOp>()) ||
        failed(lowerAll<nn::AttentionGradOp>()))
      signalPassFailure();
  }
};

} // namespace
