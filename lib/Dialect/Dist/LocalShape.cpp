//===- LocalShape.cpp - what one rank holds of a global tensor ------------===//

#include "tessera/Dialect/Dist/LocalShape.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tessera::dist;

SmallVector<int64_t> tessera::dist::localShape(RankedTensorType type,
                                               MeshAttr mesh) {
  SmallVector<int64_t> shape(type.getShape());
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    for (StringAttr axis : axesOf(type, dim))
      shape[dim] = llvm::divideCeil(shape[dim], mesh.getSize(axis));
  return shape;
}

bool tessera::dist::isPartialMean(RankedTensorType type) {
  auto sharding = dyn_cast_or_null<ShardingAttr>(type.getEncoding());
  return sharding && llvm::any_of(sharding.getStates(), [](const AxisState &s) {
           return s.state.kind == State::L;
         });
}

RankedTensorType tessera::dist::localType(RankedTensorType type,
                                          MeshAttr mesh) {
  SmallVector<int64_t> shape =
      mesh ? localShape(type, mesh) : SmallVector<int64_t>(type.getShape());
  Type element = type.getElementType();
  if (isPartialMean(type)) {
    ++shape.back();
    if (element.getIntOrFloatBitWidth() < 32)
      element = Float32Type::get(type.getContext());
  }
  return RankedTensorType::get(shape, element);
}

int64_t tessera::dist::bytesOf(Type elementType, int64_t elements) {
  return elements * elementType.getIntOrFloatBitWidth() / 8;
}

int64_t tessera::dist::wholeBytes(RankedTensorType type, MeshAttr mesh,
                                  StringRef axis) {
  RankedTensorType whole = withState(type, axis, {State::I});
  int64_t elements = 1;
  for (int64_t size : localShape(whole, mesh))
    elements *= size;
  return bytesOf(type.getElementType(), elements);
}
