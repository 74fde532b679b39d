//===- RowLayout.cpp - how a part lies inside a tensor --------------------===//

#include "tessera/Dialect/RT/RowLayout.h"

using namespace mlir;
using namespace tessera::rt;

static int64_t product(ArrayRef<int64_t> sizes) {
  int64_t n = 1;
  for (int64_t size : sizes)
    n *= size;
  return n;
}

/// Returns the layout if `part` is `whole` without dimension `dim`, or shorter
/// there.
static std::optional<RowLayout> layoutAlong(ArrayRef<int64_t> whole,
                                            ArrayRef<int64_t> part, size_t dim,
                                            ArrayRef<int64_t> offsets) {
  if (whole.take_front(dim) != part.take_front(dim))
    return std::nullopt;
  ArrayRef<int64_t> inner = whole.drop_front(dim + 1);
  bool lacks = part.size() + 1 == whole.size();
  if (part.drop_front(lacks ? dim : dim + 1) != inner)
    return std::nullopt;
  RowLayout layout = {product(whole.take_front(dim)),
                      product(part.drop_front(dim)),
                      product(whole.drop_front(dim))};
  for (int64_t offset : offsets)
    if (offset % product(inner) != 0 ||
        offset + layout.rowElements > layout.stride)
      return std::nullopt;
  return layout;
}

RowLayout tessera::rt::partLayout(RankedTensorType whole, RankedTensorType part,
                                  ArrayRef<int64_t> offsets) {
  int64_t elements = part.getNumElements();
  RowLayout contiguous = {1, elements, elements};
  ArrayRef<int64_t> w = whole.getShape(), p = part.getShape();
  if (elements == whole.getNumElements() ||
      (p.size() != w.size() && p.size() + 1 != w.size()))
    return contiguous;
  for (size_t dim = 0; dim < w.size() && dim <= p.size(); ++dim)
    if (std::optional<RowLayout> layout = layoutAlong(w, p, dim, offsets))
      return *layout;
  return contiguous;
}

bool tessera::rt::hasPaddedRows(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && isa_and_nonnull<RowStrideAttr>(tensor.getEncoding());
}

int64_t tessera::rt::rowStrideOf(RankedTensorType type) {
  if (auto layout = dyn_cast_or_null<RowStrideAttr>(type.getEncoding()))
    return layout.getStride();
  return type.getRank() == 0 ? 1 : type.getShape().back();
}

int64_t tessera::rt::storedElementsOf(RankedTensorType type) {
  if (!hasPaddedRows(type))
    return type.getNumElements();
  return product(type.getShape().drop_back()) * rowStrideOf(type);
}

RankedTensorType tessera::rt::withRowStride(RankedTensorType type,
                                            int64_t stride) {
  return RankedTensorType::get(type.getShape(), type.getElementType(),
                               RowStrideAttr::get(type.getContext(), stride));
}

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

RowLayout tessera::rt::layoutIn(ConcatOp concat, unsigned part) {
  RankedTensorType type = typeOf(concat.getParts()[part]);
  SmallVector<int64_t> offsets;
  for (auto [sibling, offset] :
       llvm::zip(concat.getParts(), concat.getPartOffsets()))
    if (sibling.getType() == type)
      offsets.push_back(offset);
  return partLayout(typeOf(concat.getResult()), type, offsets);
}

static RowLayout layoutOfView(ViewOp view) {
  RankedTensorType type = typeOf(view.getResult());
  int64_t elements = type.getNumElements();
  if (elements == typeOf(view.getSource()).getNumElements())
    return layoutOf(view.getSource());
  if (view.getIndex())
    return {1, elements, elements};
  // Slices that attention reads say in how many parts a position is cut.
  if (auto parts = view->getAttrOfType<IntegerAttr>("parts");
      parts && type.getRank() >= 2 && elements > 0) {
    int64_t row = product(type.getShape().take_back(2));
    return {elements / row, row, row * parts.getInt()};
  }
  SmallVector<int64_t> offsets;
  for (Operation *user : view.getSource().getUsers())
    if (auto sibling = dyn_cast<ViewOp>(user))
      if (sibling.getResult().getType() == type && !sibling.getIndex())
        offsets.push_back(sibling.getOffset());
  return partLayout(typeOf(view.getSource()), type, offsets);
}

RowLayout tessera::rt::layoutOf(Value value) {
  if (auto view = value.getDefiningOp<ViewOp>())
    return layoutOfView(view);
  int64_t elements = storedElementsOf(typeOf(value));
  RowLayout contiguous = {1, elements, elements};
  auto call = value.getDefiningOp<RuntimeCallOpInterface>();
  if (!call || hasPaddedRows(value.getType()))
    return contiguous;
  int64_t stride =
      call.getResultStride(cast<OpResult>(value).getResultNumber());
  if (stride == 0 && !isa<CopyOp>(call))
    return contiguous;
  for (OpOperand &use : value.getUses())
    if (auto concat = dyn_cast<ConcatOp>(use.getOwner()))
      return layoutIn(concat, use.getOperandNumber());
  // Gaps, but of no concatenation: refused later.
  return stride == 0 ? contiguous : RowLayout{2, elements / 2, stride};
}
