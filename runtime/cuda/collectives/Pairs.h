//===- Pairs.h - sums as balanced trees, value by value ---------*- C++ -*-===//
// Neighbours first: the sum of 4 is (0 + 1) + (2 + 3), as the CPU has it.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CUDA_COLLECTIVES_PAIRS_H
#define TESSERA_RUNTIME_CUDA_COLLECTIVES_PAIRS_H

#include "runtime/cuda/HostDevice.h"

#include <cstdint>

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
  static constexpr int most = 127; ///< values; each level doubles them

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

  /// Returns the sum of at least one value: the youngest sums first.
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
  static_assert(most == (1 << levels) - 1, "as many as levels have room for");
  unsigned count = 0;
  Wide waiting[levels] = {};
};

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_COLLECTIVES_PAIRS_H
