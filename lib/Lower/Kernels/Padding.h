//===- Padding.h - the padding of uneven shards is zero ---------*- C++ -*-===//
// Sums over a padded dimension add all local elements, so padding must be 0 in
// every value that such a sum may read. Most ops keep it 0; these do not.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_LOWER_KERNELS_PADDING_H
#define TESSERA_LIB_LOWER_KERNELS_PADDING_H

#include "mlir/IR/Operation.h"

namespace tessera {

/// Must this op, whose columns are the factor `column`, mask the padding of its
/// result, or, if it is a maximum, of its operand?
bool masksPadding(mlir::Operation *op, char column);

} // namespace tessera

#endif // TESSERA_LIB_LOWER_KERNELS_PADDING_H
