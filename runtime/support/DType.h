//===- DType.h - element types and their conversions ------------*- C++ -*-===//
// Sizes, names and exact conversions of the element types of abi.h. Every
// conversion rounds once, to nearest, ties to even.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_SUPPORT_DTYPE_H
#define TESSERA_RUNTIME_SUPPORT_DTYPE_H

#include "tessera/abi.h"

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

namespace tessera {

/// Returns the bytes of one element; 0 for an unknown type.
int64_t dtypeBytes(int dtype);
/// Returns "f32", the name in the metadata.
const char *dtypeName(int dtype);
std::optional<int> dtypeFromName(const std::string &name);
/// Returns "F32", the name in safetensors.
const char *dtypeFileName(int dtype);

inline float floatFromBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
inline uint32_t bitsOfFloat(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

inline float bf16ToFloat(uint16_t bits) {
  return floatFromBits(static_cast<uint32_t>(bits) << 16);
}
/// Branch-free but for NaN, which keeps its sign and becomes quiet.
inline uint16_t floatToBf16(float value) {
  uint32_t bits = bitsOfFloat(value);
  uint32_t rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16;
  uint32_t quiet = (bits >> 16) | 0x40;
  bool isNan = (bits & 0x7FFFFFFF) > 0x7F800000;
  return static_cast<uint16_t>(isNan ? quiet : rounded);
}
/// Rounds once: not the same as going through float.
uint16_t doubleToBf16(double value);
float f16ToFloat(uint16_t bits);

/// values[i] = the i-th element at `src`, widened.
void widen(int dtype, const void *src, double *values, int64_t count);
/// Stores values[i] at the i-th element of `dst`, rounded (i32 and i8: to the
/// nearest, saturating).
void narrow(int dtype, const double *values, void *dst, int64_t count);

} // namespace tessera

#endif // TESSERA_RUNTIME_SUPPORT_DTYPE_H
