//===- NNAttributes.h - attributes of the nn dialect ------------*- C++ -*-===//
// The ops of rt carry some of them, but need no op of nn.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_NN_NNATTRIBUTES_H
#define TESSERA_DIALECT_NN_NNATTRIBUTES_H

#include "mlir/IR/Attributes.h"
#include "mlir/IR/Dialect.h"
#include "tessera/Dialect/NN/AttentionMask.h"

#include "tessera/Dialect/NN/NNDialect.h.inc"
#include "tessera/Dialect/NN/NNEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "tessera/Dialect/NN/NNAttrs.h.inc"

#endif // TESSERA_DIALECT_NN_NNATTRIBUTES_H
