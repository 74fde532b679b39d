//===- ShapeChecks.cpp - checks that op families share --------------------===//

#include "lib/Dialect/RT/ShapeChecks.h"

using namespace mlir;

LogicalResult tessera::rt::verifyAlong(Operation *op, RankedTensorType from,
                                       RankedTensorType to, uint64_t dim) {
  if (dim >= static_cast<uint64_t>(from.getRank()))
    return op->emitOpError() << "works along dimension " << dim << " of "
                             << from << ", which has rank " << from.getRank();
  SmallVector<int64_t> shape(from.getShape());
  if (to.getRank() == from.getRank())
    shape[dim] = to.getDimSize(dim);
  if (from.clone(shape) == to)
    return success();
  return op->emitOpError() << "makes " << to << " of " << from
                           << "; only dimension " << dim << " may differ";
}

bool tessera::rt::areCompact(Value rows, Value gates) {
  return cast<RankedTensorType>(rows.getType()).getRank() == 2 &&
         cast<RankedTensorType>(gates.getType()).getRank() > 1;
}

LogicalResult tessera::rt::verifyGates(Operation *op, Value rows, Value gates) {
  auto type = cast<RankedTensorType>(rows.getType());
  auto routes = cast<RankedTensorType>(gates.getType());
  ArrayRef<int64_t> shape = type.getShape(), by = routes.getShape();
  if (areCompact(rows, gates))
    return success();
  if (shape.size() == by.size() + 1 && !by.empty() &&
      shape.front() == by.back() &&
      shape.drop_front().drop_back() == by.drop_back())
    return success();
  return op->emitOpError() << "routes rows " << type << " by gates " << routes
                           << "; these must be the rows' [.., experts], those "
                              "[experts, .., columns] or [rows, columns]";
}
