//===- ReduceElement.h - one element of a reduction -------------*- C++ -*-===//
// In the order of Reduce.h, neighbours first: the sum of 4 is (0 + 1) + (2 +
// 3), so that the CPU and the GPU give equal bits.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CUDA_COLLECTIVES_REDUCEELEMENT_H
#define TESSERA_RUNTIME_CUDA_COLLECTIVES_REDUCEELEMENT_H

#include "runtime/cuda/Element.h"
#include "runtime/cuda/collectives/Pairs.h"
#include "runtime/cuda/collectives/Reduction.h"

namespace tessera::cuda {

/// Element e < outer * count of every target; see Reduction.h.
template <class T, class Op>
TSR_DEVICE void reduceElement(const Reduction &what, int64_t e) {
  int64_t from =
      e / what.count * what.sourceStride + e % what.count + what.sourceOffset;
  Pairs<decltype(widen(T())), Op> pairs;
  static_assert(mostMembers <= decltype(pairs)::most, "too many members");
  for (int64_t s = 0; s < what.sources.count; ++s)
    pairs.add(widen(static_cast<const T *>(what.sources.data[s])[from]));
  T rounded = Narrow<T>::from(pairs.total());
  for (int64_t t = 0; t < what.targets.count; ++t)
    static_cast<T *>(what.targets.data[t])[e + what.targetOffset] = rounded;
}

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_COLLECTIVES_REDUCEELEMENT_H
