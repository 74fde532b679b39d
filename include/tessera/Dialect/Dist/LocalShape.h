//===- LocalShape.h - what one rank holds of a global tensor ----*- C++ -*-===//
// An axis of n ranks cuts a dimension of size d into chunks of ceil(d / n);
// local arrays have the size of the first chunk on every rank.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_DIST_LOCALSHAPE_H
#define TESSERA_DIALECT_DIST_LOCALSHAPE_H

#include "tessera/Dialect/Dist/Dist.h"

namespace tessera::dist {

/// Shape of every rank's array, padding included.
llvm::SmallVector<int64_t> localShape(mlir::RankedTensorType type,
                                      MeshAttr mesh);

/// Bytes of `elements` elements of a type.
int64_t bytesOf(mlir::Type elementType, int64_t elements);

/// Bytes of a rank's array once it is whole on `axis`.
int64_t wholeBytes(mlir::RankedTensorType type, MeshAttr mesh,
                   llvm::StringRef axis);

} // namespace tessera::dist

#endif // TESSERA_DIALECT_DIST_LOCALSHAPE_H
