//===- Bf16.cuh - bf16 as the runtime rounds it -----------------*- C++ -*-===//
// The same integer operations as DType.h: the CPU and the GPU give equal bits.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_CUDA_BF16_CUH
#define TESSERA_CUDA_BF16_CUH

#include <cstdint>

namespace tessera::cuda {

/// Stored bits; a type of its own so that conversions are chosen by it.
struct Bf16 {
  uint16_t bits;
};

__device__ inline float widen(Bf16 value) {
  return __uint_as_float(static_cast<uint32_t>(value.bits) << 16);
}
__device__ inline float widen(float value) { return value; }
__device__ inline double widen(double value) { return value; }
__device__ inline int32_t widen(int32_t value) { return value; }

template <class T> struct Narrow {
  __device__ static T from(T value) { return value; }
};
template <> struct Narrow<Bf16> {
  __device__ static Bf16 from(float value) {
    uint32_t bits = __float_as_uint(value);
    uint32_t rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16;
    uint32_t quiet = (bits >> 16) | 0x40;
    bool isNan = (bits & 0x7FFFFFFF) > 0x7F800000;
    return {static_cast<uint16_t>(isNan ? quiet : rounded)};
  }
};

} // namespace tessera::cuda

#endif // TESSERA_CUDA_BF16_CUH
