//===- LocalShape.h - what one rank holds of a global tensor ----*- C++ -*-===//
// An axis of n ranks cuts a dimension of size d into chunks of ceil(d / n);
// local arrays have the size of the first chunk on every rank. Beside each row
// of a partial mean (L) a rank holds the logarithm of its weight.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_DIST_LOCALSHAPE_H
#define TESSERA_DIALECT_DIST_LOCALSHAPE_H

#include "tessera/Dialect/Dist/Dist.h"

namespace tessera::dist {

/// Shape of every rank's array, padding included.
llvm::SmallVector<int64_t> localShape(mlir::RankedTensorType type,
                                      MeshAttr mesh);

/// Returns whether the value is a partial mean on some axis.
bool isPartialMean(mlir::RankedTensorType type);

/// Type of every rank's array. That of a partial mean is f32 at least and has
/// one more element in its last dimension: the logarithm of the weight.
mlir::RankedTensorType localType(mlir::RankedTensorType type, MeshAttr mesh);

/// Bytes of `elements` elements of a type.
int64_t bytesOf(mlir::Type elementType, int64_t elements);

/// Bytes of a rank's array once it is whole on `axis`.
int64_t wholeBytes(mlir::RankedTensorType type, MeshAttr mesh,
                   llvm::StringRef axis);

} // namespace tessera::dist

#endif // TESSERA_DIALECT_DIST_LOCALSHAPE_H
