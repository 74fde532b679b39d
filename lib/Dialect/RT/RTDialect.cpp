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
  int64_t elements = getStride();
  for (int64_t size : shape.drop_back())
    if (size > 0 && (llvm::MulOverflow(elements, size, elements) ||
                     elements > dist::kMostBytes / 8))
      return emitError() << "rows " << getStride()
                         << " elements apart make more than "
                         << dist::kMostBytes / 8 << " elements";
  return success();
}
