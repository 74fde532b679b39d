//===- Dist.h - the dist dialect --------------------------------*- C++ -*-===//

#ifndef TESSERA_DIALECT_DIST_DIST_H
#define TESSERA_DIALECT_DIST_DIST_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "tessera/Dialect/Dist/Padding.h"
#include "tessera/Dialect/Dist/State.h"
#include "tessera/Dialect/Dist/Tensors.h"
#include "tessera/Dialect/Dist/TypingRule.h"
#include "tessera/Dialect/NN/NNInterfaces.h"
#include "tessera/Options/MeshShape.h"

#include "tessera/Dialect/Dist/DistDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "tessera/Dialect/Dist/DistAttrs.h.inc"

#include "tessera/Dialect/Dist/DistInterfaces.h.inc"

#define GET_OP_CLASSES
#include "tessera/Dialect/Dist/DistOps.h.inc"

namespace tessera::dist {

/// Returns the mesh of the module that holds `op`; null if it names none
/// (serial).
MeshAttr meshOf(mlir::Operation *op);

} // namespace tessera::dist

#endif // TESSERA_DIALECT_DIST_DIST_H
