//===- Accumulators.cpp - reductions in vector registers ------------------===//

#include "lib/Codegen/Kernels/Accumulators.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace tessera {

static TypedAttr identityAttr(OpBuilder &builder, Operation *combiner,
                              Type element) {
  if (auto type = dyn_cast<FloatType>(element)) {
    if (isa<arith::AddFOp>(combiner))
      return builder.getFloatAttr(type, 0.0);
    bool isMax = isa<arith::MaximumFOp, arith::MaxNumFOp>(combiner);
    return builder.getFloatAttr(
        type, APFloat::getInf(type.getFloatSemantics(), /*Negative=*/isMax));
  }
  unsigned width = element.getIntOrFloatBitWidth();
  APInt value = isa<arith::MaxSIOp>(combiner) ? APInt::getSignedMinValue(width)
                : isa<arith::MinSIOp>(combiner)
                    ? APInt::getSignedMaxValue(width)
                    : APInt::getZero(width);
  return builder.getIntegerAttr(element, value);
}

Value identityOf(OpBuilder &builder, Location loc, const Reduction &reduction,
                 Type type) {
  TypedAttr attr =
      identityAttr(builder, reduction.combiner, getElementTypeOrSelf(type));
  if (auto vector = dyn_cast<VectorType>(type))
    attr = DenseElementsAttr::get(vector, Attribute(attr));
  return arith::ConstantOp::create(builder, loc, attr);
}

Value combine(OpBuilder &builder, Location loc, const Reduction &reduction,
              Value lhs, Value rhs) {
  IRMapping mapping;
  mapping.map(reduction.combiner->getOperand(0), lhs);
  mapping.map(reduction.combiner->getOperand(1), rhs);
  Operation *clone = builder.clone(*reduction.combiner, mapping);
  clone->getResult(0).setType(lhs.getType());
  return clone->getResult(0);
}

Value accumulate(OpBuilder &builder, Location loc, const Reduction &reduction,
                 Value accumulator, Value input, Value mask) {
  // The input first: what is checked of it is off the accumulator's chain.
  Value sum = combine(builder, loc, reduction, input, accumulator);
  if (!mask)
    return sum;
  return arith::SelectOp::create(builder, loc, mask, sum, accumulator);
}

static Value lanesFrom(OpBuilder &builder, Location loc, Value vector,
                       int64_t first, int64_t count) {
  SmallVector<int64_t> lanes(count);
  std::iota(lanes.begin(), lanes.end(), first);
  return vector::ShuffleOp::create(builder, loc, vector, vector, lanes);
}

Value combineLanes(OpBuilder &builder, Location loc, const Reduction &reduction,
                   Value vector, unsigned lanes) {
  unsigned count = cast<VectorType>(vector.getType()).getNumElements();
  for (; count > lanes; count /= 2)
    vector = combine(builder, loc, reduction,
                     lanesFrom(builder, loc, vector, 0, count / 2),
                     lanesFrom(builder, loc, vector, count / 2, count / 2));
  if (lanes > 1)
    return vector;
  return vector::ExtractOp::create(builder, loc, vector, ArrayRef<int64_t>{0});
}

} // namespace tessera
