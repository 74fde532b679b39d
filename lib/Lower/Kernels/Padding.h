//===- Padding.h - the padding of uneven shards is zero ---------*- C++ -*-===//
// Sums over a padded dimension add all local elements, so padding must be 0 in
// every value that such a sum may read. Ops say what they make of padding.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_LOWER_KERNELS_PADDING_H
#define TESSERA_LIB_LOWER_KERNELS_PADDING_H

#include "tessera/Lower/Kernels/KernelOpInterface.h"
#include "tessera/Partition/Factors.h"

namespace tessera {

/// The last factor of an op, if some rank holds padding along it that the op
/// must mask: in its result, or in its operand if it is a maximum.
std::optional<FactorSpan> maskedSpan(KernelOpInterface op,
                                     const KernelSpace &space);

} // namespace tessera

#endif // TESSERA_LIB_LOWER_KERNELS_PADDING_H
