#include "runtime/collectives/Reduce.h"

#include "runtime/support/DType.h"

#include <algorithm>
#include <cstddef>
#include <memory>

namespace tessera {

// The loops are compiled for several vector widths, one is chosen when the
// library is loaded. The bits are the same: there is nothing to contract or to
// reorder. (ThreadSanitizer cannot run before the choice is made.)
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
#define TSR_ALL_WIDTHS                                                         \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define TSR_ALL_WIDTHS
#endif
#define TSR_INLINE __attribute__((always_inline)) inline

namespace {
// Fits the first-level cache together with one source block.
constexpr int64_t blockElements = 2048;

struct Identity {
  template <class T> static T load(T value) { return value; }
  template <class T> static T store(T value) { return value; }
};
struct Bf16 {
  static float load(uint16_t bits) { return bf16ToFloat(bits); }
  static uint16_t store(float value) { return floatToBf16(value); }
};

struct Add {
  template <class T> static T apply(T a, T b) { return a + b; }
  static int32_t apply(int32_t a, int32_t b) {
    return static_cast<int32_t>(static_cast<uint32_t>(a) +
                                static_cast<uint32_t>(b));
  }
};
struct Max {
  template <class T> static T apply(T a, T b) {
    return b > a || b != b ? b : a;
  }
};

/// Returns how many sums follow on a source: as many as digits carry in a
/// binary counter of the sources, after the last one all that wait.
TSR_INLINE size_t sumsAfter(const Reduction &what, size_t source,
                            size_t waiting) {
  if (what.partial)
    return static_cast<size_t>(what.partial->sources[source].adds);
  if (source + 1 == what.sources.size())
    return waiting - 1;
  size_t sums = 0;
  for (size_t pairs = source + 1; pairs % 2 == 0; pairs /= 2)
    ++sums;
  return sums;
}

/// One block of all sources. Sums wait on a stack, of which the upper two are
/// added.
template <class T, class Wide, class Convert, class Op>
TSR_INLINE void reduceTree(const Reduction &what, int64_t block, int64_t length,
                           Wide *stack) {
  size_t depth = 0;
  for (size_t s = 0; s < what.sources.size(); ++s) {
    Wide *top = stack + depth++ * blockElements;
    if (what.partial && what.partial->sources[s].isSum) {
      const Wide *source = static_cast<const Wide *>(what.sources[s]) + block;
      for (int64_t i = 0; i < length; ++i)
        top[i] = source[i];
    } else {
      const T *source = static_cast<const T *>(what.sources[s]) + block;
      for (int64_t i = 0; i < length; ++i)
        top[i] = Convert::load(source[i]);
    }
    for (size_t sums = sumsAfter(what, s, depth); sums > 0; --sums) {
      Wide *right = stack + --depth * blockElements;
      Wide *left = right - blockElements;
      for (int64_t i = 0; i < length; ++i)
        left[i] = Op::apply(left[i], right[i]);
    }
  }
}

/// Stored elements are T, sums are made in Wide.
template <class T, class Wide, class Convert, class Op>
TSR_INLINE void reduceBlocks(const Reduction &what, int64_t begin, int64_t end,
                             const std::vector<void *> &targets, int64_t shift,
                             void *space) {
  Wide *stack = static_cast<Wide *>(space);
  alignas(64) T rounded[blockElements];
  for (int64_t block = begin; block < end; block += blockElements) {
    int64_t length = std::min(blockElements, end - block);
    reduceTree<T, Wide, Convert, Op>(what, block, length, stack);
    if (what.partial && what.partial->isPartial) {
      for (void *target : targets)
        std::memcpy(static_cast<Wide *>(target) + (block - shift), stack,
                    length * sizeof(Wide));
      continue;
    }
    for (int64_t i = 0; i < length; ++i)
      rounded[i] = Convert::store(stack[i]);
    for (void *target : targets)
      std::memcpy(static_cast<T *>(target) + (block - shift), rounded,
                  length * sizeof(T));
  }
}

template <class Op>
TSR_INLINE void reduceAs(const Reduction &what, int64_t begin, int64_t end,
                         const std::vector<void *> &targets, int64_t shift,
                         void *space) {
  switch (what.dtype) {
  case TSR_DTYPE_F32:
    return reduceBlocks<float, float, Identity, Op>(what, begin, end, targets,
                                                    shift, space);
  case TSR_DTYPE_BF16:
    return reduceBlocks<uint16_t, float, Bf16, Op>(what, begin, end, targets,
                                                   shift, space);
  case TSR_DTYPE_F64:
    return reduceBlocks<double, double, Identity, Op>(what, begin, end, targets,
                                                      shift, space);
  case TSR_DTYPE_I32:
    return reduceBlocks<int32_t, int32_t, Identity, Op>(what, begin, end,
                                                        targets, shift, space);
  }
}
} // namespace

// With external linkage: Clang loses the constructors that clones of internal
// functions call.
TSR_ALL_WIDTHS void reduceSum(const Reduction &what, int64_t begin, int64_t end,
                              const std::vector<void *> &targets, int64_t shift,
                              void *space) {
  reduceAs<Add>(what, begin, end, targets, shift, space);
}

TSR_ALL_WIDTHS void reduceMax(const Reduction &what, int64_t begin, int64_t end,
                              const std::vector<void *> &targets, int64_t shift,
                              void *space) {
  reduceAs<Max>(what, begin, end, targets, shift, space);
}

int64_t partialBytes(int dtype) {
  return dtype == TSR_DTYPE_BF16 ? dtypeBytes(TSR_DTYPE_F32)
                                 : dtypeBytes(dtype);
}

/// Returns how many sums wait at a time.
static size_t mostWaiting(const Reduction &what) {
  size_t waiting = 0, most = 0;
  for (size_t s = 0; s < what.sources.size(); ++s) {
    most = std::max(most, ++waiting);
    waiting -= sumsAfter(what, s, waiting);
  }
  return most;
}

void reduceRange(const Reduction &what, int64_t begin, int64_t end,
                 const std::vector<void *> &targets, int64_t shift) {
  // Taken here: gcc lets no exception leave a function of several widths.
  const size_t levels = mostWaiting(what);
  std::unique_ptr<std::byte[]> space(
      new std::byte[levels * blockElements * sizeof(double)]);
  if (what.reduction == TSR_REDUCE_MAX)
    reduceMax(what, begin, end, targets, shift, space.get());
  else
    reduceSum(what, begin, end, targets, shift, space.get());
}

} // namespace tessera
