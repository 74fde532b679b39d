//===- ReduceElement.h - one element of a reduction -------------*- C++ -*-===//
// In the order of Reduce.h, neighbours first: the sum of 4 is (0 + 1) + (2 +
// 3), so that the CPU and the GPU give equal bits.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CUDA_COLLECTIVES_REDUCEELEMENT_H
#define TESSERA_RUNTIME_CUDA_COLLECTIVES_REDUCEELEMENT_H

#include "runtime/cuda/Element.h"
#include "runtime/cuda/collectives/Reduction.h"

namespace tessera::cuda {

struct Add {
  template <class T> TSR_DEVICE static T apply(T a, T b) { return a + b; }
  TSR_DEVICE static int32_t apply(int32_t a, int32_t b) {
    return static_cast<int32_t>(static_cast<uint32_t>(a) +
                                static_cast<uint32_t>(b));
  }
};
struct Max {
  template <class T> TSR_DEVICE static T apply(T a, T b) {
    return b > a || b != b ? b : a;
  }
};

/// Sums of 1, 2, 4, ... values that wait for as many more; bit l of `count`
/// says whether level l waits. The loops over levels are unrolled on the GPU,
/// so that the levels are registers.
template <class Wide, class Op> class Pairs {
public:
  TSR_DEVICE void add(Wide value) {
    bool isPlaced = false;
    TSR_UNROLL
    for (int level = 0; level < levels; ++level) {
      if (isPlaced)
        continue;
      if (count >> level & 1) {
        value = Op::apply(waiting[level], value);
      } else {
        waiting[level] = value;
        isPlaced = true;
      }
    }
    ++count;
  }

  /// Of at least one value: the youngest sums first.
  TSR_DEVICE Wide total() const {
    Wide total = {};
    bool isBegun = false;
    TSR_UNROLL
    for (int level = 0; level < levels; ++level) {
      if (!(count >> level & 1))
        continue;
      total = isBegun ? Op::apply(waiting[level], total) : waiting[level];
      isBegun = true;
    }
    return total;
  }

private:
  static constexpr int levels = 7;
  static_assert(mostMembers < (1 << levels), "no level for so many members");
  unsigned count = 0;
  Wide waiting[levels] = {};
};

/// Element e < outer * count of every target; see Reduction.h.
template <class T, class Op>
TSR_DEVICE void reduceElement(const Reduction &what, int64_t e) {
  int64_t from =
      e / what.count * what.sourceStride + e % what.count + what.sourceOffset;
  Pairs<decltype(widen(T())), Op> pairs;
  for (int64_t s = 0; s < what.sources.count; ++s)
    pairs.add(widen(static_cast<const T *>(what.sources.data[s])[from]));
  T rounded = Narrow<T>::from(pairs.total());
  for (int64_t t = 0; t < what.targets.count; ++t)
    static_cast<T *>(what.targets.data[t])[e + what.targetOffset] = rounded;
}

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_COLLECTIVES_REDUCEELEMENT_H
