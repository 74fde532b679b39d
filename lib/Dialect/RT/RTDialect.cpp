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

/// `v = {axes = ["tp"], chunks = array<i64: 4>, total = 7}`: axes of the mesh,
/// each with the size of its chunks.
static LogicalResult verifySpan(Operation *op, NamedAttribute factor) {
  auto entry = dyn_cast<DictionaryAttr>(factor.getValue());
  auto axes = entry ? entry.getAs<ArrayAttr>("axes") : nullptr;
  auto chunks = entry ? entry.getAs<DenseI64ArrayAttr>("chunks") : nullptr;
  auto total = entry ? entry.getAs<IntegerAttr>("total") : nullptr;
  bool isSpan =
      factor.getName().size() == 1 && axes && !axes.empty() &&
      llvm::all_of(axes, llvm::IsaPred<StringAttr>) && chunks &&
      chunks.size() == static_cast<int64_t>(axes.size()) &&
      llvm::all_of(chunks.asArrayRef(), [](int64_t n) { return n > 0; }) &&
      total && total.getType().isInteger(64) && total.getInt() > 0;
  if (!isSpan)
    return op->emitOpError()
           << "has '" << RTDialect::kFactorsAttr << "' = {"
           << factor.getName().getValue() << " = " << factor.getValue()
           << "}; it must be {axes = [\"axis\"], chunks = array<i64: size>, "
              "total = size : i64}, a size for each axis";
  return success();
}

LogicalResult RTDialect::verifyOperationAttribute(Operation *op,
                                                  NamedAttribute attribute) {
  if (attribute.getName() != kFactorsAttr)
    return success();
  auto factors = dyn_cast<DictionaryAttr>(attribute.getValue());
  if (!factors)
    return op->emitOpError() << "has '" << kFactorsAttr
                             << "', which must be a dictionary of factors";
  for (NamedAttribute factor : factors)
    if (failed(verifySpan(op, factor)))
      return failure();
  return success();
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
