//===- Bf16.h - bfloat16 to and from float ----------------------*- C++ -*-===//
// Scalar conversions. Internal linkage on purpose: files compiled for different
// instruction sets include this, and the linker must not merge their copies.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CPU_BF16_H
#define TESSERA_RUNTIME_CPU_BF16_H

#include <cstdint>

namespace tessera {

/// A bfloat16 in memory. A type of its own, so that templates tell it from an
/// integer.
struct Bf16 {
  uint16_t bits;
};

static inline float bf16ToFloat(Bf16 value) {
  uint32_t bits = static_cast<uint32_t>(value.bits) << 16;
  float result;
  __builtin_memcpy(&result, &bits, sizeof(result));
  return result;
}

/// Rounds to nearest, ties to even; a NaN stays a (quiet) NaN.
static inline Bf16 floatToBf16(float value) {
  uint32_t bits;
  __builtin_memcpy(&bits, &value, sizeof(bits));
  if ((bits & 0x7fffffffu) > 0x7f800000u)
    return Bf16{static_cast<uint16_t>((bits >> 16) | 0x40u)};
  return Bf16{
      static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16)};
}

/// An element in the type it is computed in.
static inline float wide(float x) { return x; }
static inline double wide(double x) { return x; }
static inline float wide(Bf16 x) { return bf16ToFloat(x); }

/// Rounds what was computed to an element.
static inline void store(float x, float &to) { to = x; }
static inline void store(double x, double &to) { to = x; }
static inline void store(float x, Bf16 &to) { to = floatToBf16(x); }

} // namespace tessera

#endif // TESSERA_RUNTIME_CPU_BF16_H
