//===- Element.h - elements, bf16 as the runtime rounds it ------*- C++ -*-===//
// The same integer operations as DType.h: the CPU and the GPU give equal bits.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CUDA_ELEMENT_H
#define TESSERA_RUNTIME_CUDA_ELEMENT_H

#include "runtime/cuda/HostDevice.h"

#include <cstdint>
#include <cstring>

namespace tessera::cuda {

/// Stored bits; a type of its own so that conversions are chosen by it.
struct Bf16 {
  uint16_t bits;
};

TSR_DEVICE float widen(Bf16 value) {
  uint32_t bits = static_cast<uint32_t>(value.bits) << 16;
  float wide;
  memcpy(&wide, &bits, sizeof(wide));
  return wide;
}
TSR_DEVICE float widen(float value) { return value; }
TSR_DEVICE double widen(double value) { return value; }
TSR_DEVICE int32_t widen(int32_t value) { return value; }

template <class T> struct Narrow {
  TSR_DEVICE static T from(T value) { return value; }
};
template <> struct Narrow<Bf16> {
  TSR_DEVICE static Bf16 from(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    uint32_t rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16;
    uint32_t quiet = (bits >> 16) | 0x40;
    bool isNan = (bits & 0x7FFFFFFF) > 0x7F800000;
    return {static_cast<uint16_t>(isNan ? quiet : rounded)};
  }
};

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_ELEMENT_H
