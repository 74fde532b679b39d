//===- RTDialect.cpp - the rt dialect -------------------------------------===//

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "tessera/Dialect/RT/RT.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::rt;

#include "tessera/Dialect/RT/RTDialect.cpp.inc"
#include "tessera/Dialect/RT/RTEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "tessera/Dialect/RT/RTAttrs.cpp.inc"
#define GET_OP_CLASSES
#include "tessera/Dialect/RT/RTOps.cpp.inc"

void RTDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "tessera/Dialect/RT/RTOps.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "tessera/Dialect/RT/RTAttrs.cpp.inc"
      >();
}

LogicalResult RowStrideAttr::verifyEncoding(
    ArrayRef<int64_t> shape, Type,
    llvm::function_ref<InFlightDiagnostic()> emitError) const {
  if (shape.size() < 2)
    return emitError() << "a row stride needs a tensor of rows, of rank 2 or "
                          "more, not of rank "
                       << shape.size();
  if (getStride() < shape.back())
    return emitError() << "a row stride of " << getStride()
                       << " is less than a row of " << shape.back()
                       << " elements";
  return success();
}

/// `products` matrix products per pair of query and key; a causal mask hides
/// half of the pairs. Queries are [batch, sequence, heads, head size].
static int64_t pairFlops(Value query, Value key, bool causal,
                         int64_t products) {
  auto q = cast<RankedTensorType>(query.getType());
  int64_t keys = cast<RankedTensorType>(key.getType()).getDimSize(1);
  return products * 2 * q.getNumElements() * keys / (causal ? 2 : 1);
}

int64_t AttentionOp::getFlops() {
  return pairFlops(getQuery(), getKey(), getCausal(), 2);
}

int64_t AttentionGradOp::getFlops() {
  return pairFlops(getQuery(), getKey(), getCausal(), 5);
}

/// Of the products of all rows with all of the rank's experts, those of the
/// routed rows, where tokens share out evenly.
int64_t RoutedOp::getFlops() {
  bool isProduct = getKind() == RoutedKind::Product ||
                   getKind() == RoutedKind::ProductGradWeight;
  if (!isProduct)
    return 0;
  auto shapeOf = [](Value value) {
    return cast<RankedTensorType>(value.getType()).getShape();
  };
  int64_t work = 2 * shapeOf(getInputs()[0]).back();
  Value other = getKind() == RoutedKind::Product ? getResult() : getInputs()[1];
  for (int64_t size : shapeOf(other))
    work *= size;
  return work / getTotal() * getK();
}
