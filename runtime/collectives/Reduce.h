//===- Reduce.h - elementwise reductions of several buffers -----*- C++ -*-===//
#ifndef TESSERA_RUNTIME_COLLECTIVES_REDUCE_H
#define TESSERA_RUNTIME_COLLECTIVES_REDUCE_H

#include <cstdint>
#include <vector>

namespace tessera {

/// Parts of a buffer begin at multiples of this, so that no two ranks write one
/// cache line.
constexpr int64_t partElements = 64;
/// Below this many bytes a second thread costs more than it saves.
constexpr int64_t threadBytes = int64_t(1) << 20;

/// Says which sources are sums of a part of the tree already.
struct PartialSums {
  struct Source {
    bool isSum = false; ///< its elements have the type that sums are made in
    int adds = 0;       ///< sums that are made as soon as it is there
  };
  std::vector<Source> sources;
  /// The result is a sum that others go on with: it is not rounded.
  bool isPartial = false;
};

/// One reduction of `sources` in their order, neighbours first: the sum of 4 is
/// (0 + 1) + (2 + 3), so ranks that add what smaller groups have added get the
/// bits of one group. Sums of bf16 are made in f32 and rounded once; a maximum
/// with a NaN is NaN; i32 sums wrap.
struct Reduction {
  int dtype;
  int reduction;
  const std::vector<const void *> &sources;
  const PartialSums *partial = nullptr; ///< null: all are leaves of the tree
};

/// Returns the bytes of an element of a partial sum.
int64_t partialBytes(int dtype);

/// Computes, for i in [begin, end), every targets[t][i - shift] = reduction
/// over s of sources[s][i]. Targets may be sources: blocks are computed aside
/// first.
void reduceRange(const Reduction &what, int64_t begin, int64_t end,
                 const std::vector<void *> &targets, int64_t shift);

} // namespace tessera

#endif // TESSERA_RUNTIME_COLLECTIVES_REDUCE_H
