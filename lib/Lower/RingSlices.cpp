//===- RingSlices.cpp - what a rank has of a sequence in a ring -----------===//

#include "lib/Lower/RingSlices.h"
#include "lib/Lower/AttentionOperands.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/RT/RT.h"
#include "tessera/Dialect/RT/ResultMarks.h"

using namespace mlir;
using namespace tessera;

FailureOr<RingSlices> RingSlices::of(Operation *op, const FactorSpan &keys,
                                     nn::AttentionMask mask) {
  RingSlices slices(op, keys.cuts[0].axis);
  slices.size = dist::meshOf(op).getSize(slices.axis);
  slices.count = mask.ringSteps(keys.chunk(), slices.size);
  slices.chunks = mask.cutsChunks(keys.total);
  slices.windowed = mask.window != 0;
  if (keys.chunk() % slices.parts() == 0)
    return slices;
  return op->emitOpError() << "has " << keys.chunk() << " of " << keys.total
                           << " keys on a rank; with a causal mask the number "
                              "of a rank must be even";
}

/// Returns the visible pairs. With an early and a late chunk on each rank, late
/// queries see all early keys, unless a window hides some, early queries no
/// late ones; of the other two pairs each rank has one to compute in every
/// step, and both halves of them in the first.
ArrayRef<RingSlices::Pair> RingSlices::pairs() const {
  static constexpr Pair slices[] = {{0, 0, true}};
  static constexpr Pair halves[] = {{1, 1, true}, {1, 0, false}, {0, 0, true}};
  static constexpr Pair masked[] = {{1, 1, true}, {1, 0, true}, {0, 0, true}};
  if (!chunks)
    return slices;
  return windowed ? ArrayRef<Pair>(masked) : ArrayRef<Pair>(halves);
}

Value RingSlices::contiguous(Value value) {
  if (rowStride(value) == rowElements(value))
    return value;
  auto copy = rt::CopyOp::create(b, op->getLoc(), value.getType(), value);
  inheritPhase(copy, op);
  return copy;
}

template <typename OpTy> OpTy RingSlices::marked(OpTy made, StringRef reason) {
  made->setAttr("reason", b.getStringAttr(reason));
  inheritPhase(made, op);
  return made;
}

static Type resized(Value value, int64_t dim, int64_t size) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = size;
  return RankedTensorType::get(shape, type.getElementType());
}

static int64_t sizeOf(Value value, int64_t dim) {
  return cast<RankedTensorType>(value.getType()).getDimSize(dim);
}

RingParts RingSlices::split(Value slice, int64_t dim) {
  if (!chunks)
    return {slice};
  Type part = resized(slice, dim, sizeOf(slice, dim) / 2);
  auto made = rt::ZigzagOp::create(b, op->getLoc(), TypeRange{part, part},
                                   contiguous(slice),
                                   b.getStrArrayAttr({axis.getValue()}),
                                   b.getI64IntegerAttr(dim), UnitAttr());
  return llvm::to_vector_of<Value, 2>(
      marked(made, "balanced causal work").getOutputs());
}

/// unstack(x) -> the same of both chunks of x: one exchange instead of three,
/// and no copies for them.
std::array<RingParts, 3> RingSlices::split(Value query, Value key,
                                           Value value) {
  SmallVector<Value, 3> tensors = {query, key, value};
  auto fused = query.getDefiningOp<nn::UnstackOp>();
  if (!chunks || !fused || fused.getDim() < 2 ||
      !llvm::equal(fused.getResults(), tensors))
    return {split(query), split(key), split(value)};
  std::array<RingParts, 3> parts;
  for (Value part : split(fused.getInput())) {
    Type type = resized(query, 1, sizeOf(part, 1));
    auto made = nn::UnstackOp::create(
        b, op->getLoc(), TypeRange{type, type, type}, part, fused.getDimAttr());
    inheritPhase(made, op);
    for (auto [all, result] : llvm::zip(parts, made.getResults()))
      all.push_back(result);
  }
  return parts;
}

Value RingSlices::join(const RingParts &parts, int64_t dim) {
  if (!chunks)
    return parts[0];
  Type whole = resized(parts[0], dim, 2 * sizeOf(parts[0], dim));
  auto made = rt::ZigzagOp::create(b, op->getLoc(), whole, parts,
                                   b.getStrArrayAttr({axis.getValue()}),
                                   b.getI64IntegerAttr(dim), UnitAttr());
  return marked(made, "balanced causal work").getWhole();
}

RingParts RingSlices::pass(const RingParts &parts, int64_t distance,
                           StringRef what) {
  RingParts shifted;
  for (Value part : parts) {
    auto made =
        rt::ShiftOp::create(b, op->getLoc(), part.getType(), contiguous(part),
                            b.getStrArrayAttr({axis.getValue()}), UnitAttr(),
                            b.getI64IntegerAttr(distance));
    shifted.push_back(marked(made, what));
  }
  return shifted;
}

/// Computes the start from the shifts: after `step` of them a rank has the
/// parts of rank r - step. Late chunks are counted from the end.
Value RingSlices::start(int64_t step, unsigned part, int64_t length) {
  Location loc = op->getLoc();
  Value rank = rt::CoordOp::create(b, loc, b.getI64Type(), axis);
  if (step > 0) {
    Value ahead = arith::AddIOp::create(b, loc, rank, i64(b, loc, size - step));
    rank = arith::RemUIOp::create(b, loc, ahead, i64(b, loc, size));
  }
  if (part == 1)
    rank = arith::SubIOp::create(b, loc, i64(b, loc, 2 * size - 1), rank);
  return arith::MulIOp::create(b, loc, rank, i64(b, loc, length / parts()));
}
