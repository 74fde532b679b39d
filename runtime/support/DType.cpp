#include "runtime/support/DType.h"

#include <cmath>
#include <limits>

namespace tessera {

namespace {
struct Name {
  int dtype;
  int64_t bytes;
  const char *name;
  const char *fileName;
};
constexpr Name names[] = {{TSR_DTYPE_F32, 4, "f32", "F32"},
                          {TSR_DTYPE_BF16, 2, "bf16", "BF16"},
                          {TSR_DTYPE_F64, 8, "f64", "F64"},
                          {TSR_DTYPE_I32, 4, "i32", "I32"},
                          {TSR_DTYPE_I8, 1, "i8", "I8"}};

const Name *find(int dtype) {
  for (const Name &entry : names)
    if (entry.dtype == dtype)
      return &entry;
  return nullptr;
}
} // namespace

int64_t dtypeBytes(int dtype) {
  const Name *entry = find(dtype);
  return entry ? entry->bytes : 0;
}

const char *dtypeName(int dtype) {
  const Name *entry = find(dtype);
  return entry ? entry->name : "unknown";
}

const char *dtypeFileName(int dtype) {
  const Name *entry = find(dtype);
  return entry ? entry->fileName : "unknown";
}

std::optional<int> dtypeFromName(const std::string &name) {
  for (const Name &entry : names)
    if (name == entry.name)
      return entry.dtype;
  return std::nullopt;
}

uint16_t doubleToBf16(double value) {
  float narrowed = static_cast<float>(value);
  if (!std::isfinite(narrowed) || static_cast<double>(narrowed) == value)
    return floatToBf16(narrowed);
  // Round to odd first (Boldo, Melquiond 2008): then the second rounding, which
  // drops at least two more bits, is the correct one.
  uint32_t bits = bitsOfFloat(narrowed);
  if ((bits & 1) == 0) {
    bool tooLarge = std::fabs(static_cast<double>(narrowed)) > std::fabs(value);
    bits = tooLarge ? bits - 1 : bits + 1;
  }
  return floatToBf16(floatFromBits(bits));
}

float f16ToFloat(uint16_t bits) {
  uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  uint32_t exponent = (bits >> 10) & 0x1F;
  uint32_t mantissa = bits & 0x3FF;
  if (exponent == 0x1F)
    return floatFromBits(sign | 0x7F800000 | (mantissa << 13));
  if (exponent != 0)
    return floatFromBits(sign | ((exponent + 112) << 23) | (mantissa << 13));
  float subnormal = std::ldexp(static_cast<float>(mantissa), -24);
  return sign ? -subnormal : subnormal;
}

template <class T, class Widen>
static void widenAs(const void *src, double *values, int64_t count, Widen fn) {
  const char *bytes = static_cast<const char *>(src);
  for (int64_t i = 0; i < count; ++i) {
    T element; // in files, elements may be unaligned
    std::memcpy(&element, bytes + i * sizeof(T), sizeof(T));
    values[i] = fn(element);
  }
}

void widen(int dtype, const void *src, double *values, int64_t count) {
  switch (dtype) {
  case TSR_DTYPE_F32:
    return widenAs<float>(src, values, count, [](float x) { return x; });
  case TSR_DTYPE_BF16:
    return widenAs<uint16_t>(src, values, count, bf16ToFloat);
  case TSR_DTYPE_F64:
    return widenAs<double>(src, values, count, [](double x) { return x; });
  case TSR_DTYPE_I32:
    return widenAs<int32_t>(src, values, count, [](int32_t x) { return x; });
  case TSR_DTYPE_I8:
    return widenAs<int8_t>(src, values, count, [](int8_t x) { return x; });
  }
}

template <class Int> static Int doubleToInt(double value) {
  if (std::isnan(value))
    return 0;
  value = std::nearbyint(value);
  constexpr double low = std::numeric_limits<Int>::min();
  constexpr double high = std::numeric_limits<Int>::max();
  return static_cast<Int>(value < low ? low : value > high ? high : value);
}

template <class T, class Narrow>
static void narrowAs(const double *values, void *dst, int64_t count,
                     Narrow fn) {
  T *typed = static_cast<T *>(dst);
  for (int64_t i = 0; i < count; ++i)
    typed[i] = fn(values[i]);
}

void narrow(int dtype, const double *values, void *dst, int64_t count) {
  switch (dtype) {
  case TSR_DTYPE_F32:
    return narrowAs<float>(values, dst, count,
                           [](double x) { return static_cast<float>(x); });
  case TSR_DTYPE_BF16:
    return narrowAs<uint16_t>(values, dst, count, doubleToBf16);
  case TSR_DTYPE_F64:
    return narrowAs<double>(values, dst, count, [](double x) { return x; });
  case TSR_DTYPE_I32:
    return narrowAs<int32_t>(values, dst, count, doubleToInt<int32_t>);
  case TSR_DTYPE_I8:
    return narrowAs<int8_t>(values, dst, count, doubleToInt<int8_t>);
  }
}

} // namespace tessera
