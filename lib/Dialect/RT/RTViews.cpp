//===- RTViews.cpp - parts of tensors -------------------------------------===//

#include "lib/Dialect/RT/ShapeChecks.h"
#include "tessera/Dialect/RT/RT.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::rt;

/// A part lies inside of the whole; rows with gaps only make it longer.
static LogicalResult verifyPart(Operation *op, Value part, int64_t offset,
                                Value whole) {
  auto type = cast<RankedTensorType>(part.getType());
  auto outer = cast<RankedTensorType>(whole.getType());
  if (type.getElementType() != outer.getElementType())
    return op->emitOpError() << "has a part of type " << type << " in " << outer
                             << "; element types must be the same";
  if (!type.hasStaticShape() || !outer.hasStaticShape())
    return success(); // refused by the memory plan
  int64_t elements = type.getNumElements();
  if (offset >= 0 && offset + elements <= outer.getNumElements())
    return success();
  return op->emitOpError() << "has a part of " << elements
                           << " elements at offset " << offset
                           << ", which is not inside of the "
                           << outer.getNumElements() << " elements of "
                           << outer;
}

LogicalResult ViewOp::verify() {
  return verifyPart(*this, getResult(), getOffset(), getSource());
}

LogicalResult ConcatOp::verify() {
  size_t offsets = getPartOffsets().size();
  if (offsets != getParts().size())
    return emitOpError() << "has " << getParts().size() << " parts and "
                         << offsets << " offsets; give every part one";
  for (auto [part, offset] : llvm::zip(getParts(), getPartOffsets()))
    if (failed(verifyPart(*this, part, offset, getResult())))
      return failure();
  return success();
}

LogicalResult SliceOp::verify() {
  return verifyAlong(*this, cast<RankedTensorType>(getInput().getType()),
                     cast<RankedTensorType>(getType()), getDim());
}

LogicalResult PadOp::verify() {
  return verifyAlong(*this, cast<RankedTensorType>(getInput().getType()),
                     cast<RankedTensorType>(getType()), getDim());
}
