//===- Polynomials.cpp - f32 functions from arithmetic --------------------===//

#include "lib/Codegen/Kernels/Polynomials.h"

using namespace mlir;

namespace tessera {

static constexpr int32_t kExponentShift = 23, kExponentBias = 127;
/// Added to x, rounds it to an integer, which is then in the low bits.
static constexpr float kRounder = 12582912.0f; // 1.5 * 2^23
static constexpr int32_t kRounderBits = 0x4B400000;
/// log(2) in two parts; the first has 16 bits, so n times it is exact.
static constexpr float kLn2High = 6.931457519531e-01f,
                       kLn2Low = 1.428606765e-06f;

namespace {
/// x = n step + rest, n rounded to nearest; `bits` holds n as an integer.
struct Rounded {
  Value n, bits;
};
} // namespace

static Rounded roundQuotient(FloatBuilder &b, Value x, float inverseStep) {
  Value shifted = b.fma(x, b.constant(inverseStep), b.constant(kRounder));
  return {b.sub(shifted, b.constant(kRounder)),
          b.onBits<arith::SubIOp>(b.toBits(shifted), b.integer(kRounderBits))};
}

static Value powerOfTwo(FloatBuilder &b, Value n) {
  Value biased = b.onBits<arith::AddIOp>(n, b.integer(kExponentBias));
  return b.fromBits(b.onBits<arith::ShLIOp>(biased, b.integer(kExponentShift)));
}

/// Returns exp(x) 2^-n and n, for n the nearest integer to x / log(2).
static Value reducedExp(FloatBuilder &b, Value x, Value &n) {
  Rounded rounded = roundQuotient(b, x, 1.44269504f);
  n = rounded.bits;
  Value r = b.fma(rounded.n, b.constant(-kLn2High), x);
  r = b.fma(rounded.n, b.constant(-kLn2Low), r);
  // (exp(r) - 1 - r) / r^2 on |r| <= log(2) / 2.
  Value p =
      b.polynomial(r, {5.000000000e-01f, 1.666657627e-01f, 4.166655242e-02f,
                       8.363353088e-03f, 1.392640057e-03f});
  Value tail = b.fma(b.mul(r, r), p, r);
  return b.add(tail, b.constant(1.0f));
}

/// Computes exp for |x| <= 87: neither overflow nor subnormal results.
static Value boundedExp(FloatBuilder &b, Value x) {
  Value n;
  Value p = reducedExp(b, x, n);
  return b.mul(p, powerOfTwo(b, n));
}

Value emitExp(FloatBuilder &b, Value x) {
  Value n;
  Value p = reducedExp(b, b.atLeast(b.atMost(x, 89.0f), -104.0f), n);
  // Two factors: 2^n may be out of range where the result is not.
  Value half = b.onBits<arith::ShRSIOp>(n, b.integer(1));
  Value rest = b.onBits<arith::SubIOp>(n, half);
  return b.mul(b.mul(p, powerOfTwo(b, half)), powerOfTwo(b, rest));
}

/// Computes 2^t for t = x / log(2) rounded to f32, times 1 + log(2) (x / log(2)
/// - t).
Value emitExpOnGpu(FloatBuilder &b, Value x) {
  constexpr float inverseHigh = 1.44269502f, inverseLow = 1.92596299e-08f;
  // The rest would be NaN for an infinity.
  x = b.minimum(b.maximum(x, b.constant(-104.0f)), b.constant(89.0f));
  Value t = b.mul(x, b.constant(inverseHigh));
  Value excess = b.fma(x, b.constant(-inverseHigh), t);
  excess = b.fma(x, b.constant(-inverseLow), excess);
  Value factor = b.fma(excess, b.constant(-6.93147182e-01f), b.constant(1.0f));
  return b.mul(b.powerOfTwoOnGpu(t), factor);
}

/// Returns log(1 + f) + e log(2), for 1 + f in [sqrt(1/2), sqrt(2)].
static Value logOfParts(FloatBuilder &b, Value f, Value e) {
  Value f2 = b.mul(f, f);
  Value p =
      b.polynomial(f, {3.333333135e-01f, -2.499999702e-01f, 2.000073045e-01f,
                       -1.666785032e-01f, 1.424855143e-01f, -1.242403761e-01f,
                       1.168907136e-01f, -1.149454638e-01f, 6.980702281e-02f});
  Value tail = b.mul(b.mul(f2, f), p);
  tail = b.fma(e, b.constant(kLn2Low), tail);
  tail = b.fma(f2, b.constant(-0.5f), tail);
  return b.fma(e, b.constant(kLn2High), b.add(f, tail));
}

Value emitLog(FloatBuilder &b, Value x) {
  using arith::CmpFPredicate;
  const int32_t rootHalfBits = 0x3F3504F3;
  const float infinity = std::numeric_limits<float>::infinity();
  Value isTiny = b.compare(CmpFPredicate::OLT, x, b.constant(1.17549435e-38f));
  Value scaled = b.select(isTiny, b.mul(x, b.constant(8388608.0f)), x);
  Value bits = b.toBits(scaled);
  Value shift = b.integer(kExponentShift);
  Value e = b.onBits<arith::ShRSIOp>(
      b.onBits<arith::SubIOp>(bits, b.integer(rootHalfBits)), shift);
  Value mantissa = b.fromBits(
      b.onBits<arith::SubIOp>(bits, b.onBits<arith::ShLIOp>(e, shift)));
  Value exponent = b.toFloat(e);
  exponent = b.select(isTiny, b.sub(exponent, b.constant(23.0f)), exponent);
  Value result = logOfParts(b, b.sub(mantissa, b.constant(1.0f)), exponent);

  Value zero = b.constant(0.0f), inf = b.constant(infinity);
  result = b.select(b.compare(CmpFPredicate::OGT, x, zero), result,
                    b.constant(std::numeric_limits<float>::quiet_NaN()));
  result = b.select(b.compare(CmpFPredicate::OEQ, x, zero),
                    b.constant(-infinity), result);
  return b.select(b.compare(CmpFPredicate::OEQ, x, inf), inf, result);
}

Value emitTanh(FloatBuilder &b, Value x) {
  Value size = b.abs(x);
  // 1 - 2 / (exp(2|x|) + 1): exact enough where it is above 1/2; 1 from 9.1.
  Value doubled = b.atMost(b.add(size, size), 18.2f);
  Value one = b.constant(1.0f);
  Value large =
      b.sub(one, b.div(b.constant(2.0f), b.add(boundedExp(b, doubled), one)));
  // x + x^3 P(x^2) on |x| <= 0.64.
  Value x2 = b.mul(x, x);
  Value p =
      b.polynomial(x2, {-3.333332837e-01f, 1.333266348e-01f, -5.383514240e-02f,
                        2.092414908e-02f, -5.992961116e-03f});
  Value small = b.fma(b.mul(x2, p), x, x);
  Value isSmall =
      b.compare(arith::CmpFPredicate::OLT, size, b.constant(0.625f));
  return b.select(isSmall, small, b.copySign(large, x));
}

Value emitTanhPlusOne(FloatBuilder &b, Value x) {
  Value doubled = b.mul(x, b.constant(-2.0f));
  Value e = boundedExp(b, b.atLeast(b.atMost(doubled, 87.0f), -87.0f));
  return b.div(b.constant(2.0f), b.add(e, b.constant(1.0f)));
}

Value emitErf(FloatBuilder &b, Value x) {
  Value size = b.abs(x);
  // 1 - exp(log(erfc(|x|))), a polynomial on [0.92, 4]; 1 from 4.
  Value t = b.atMost(size, 4.0f);
  Value q =
      b.polynomial(t, {3.204415261e-04f, -1.130237579e+00f, -6.318145394e-01f,
                       -1.100944802e-01f, 2.643101849e-02f, -4.763575271e-03f,
                       5.977434921e-04f, -4.617791274e-05f, 1.643569703e-06f});
  Value large = b.sub(b.constant(1.0f), boundedExp(b, q));
  // x + x P(x^2) on |x| <= 0.93.
  Value p = b.polynomial(b.mul(x, x),
                         {1.283791661e-01f, -3.761263490e-01f, 1.128369123e-01f,
                          -2.685915120e-02f, 5.200368818e-03f,
                          -8.134709205e-04f, 8.334718586e-05f});
  Value small = b.fma(x, p, x);
  Value isSmall =
      b.compare(arith::CmpFPredicate::OLT, size, b.constant(0.925f));
  return b.select(isSmall, small, b.copySign(large, x));
}

/// cos(x - shift pi/2), shift 0 or 1: quadrant k of x tells which polynomial
/// of the rest is meant, and its sign.
static Value shiftedCos(FloatBuilder &b, Value x, int32_t shift) {
  Rounded quadrant = roundQuotient(b, x, 0.636619772f);
  Value r = b.fma(quadrant.n, b.constant(-1.570796370506f), x);
  r = b.fma(quadrant.n, b.constant(4.371138828674e-08f), r);
  r = b.fma(quadrant.n, b.constant(1.715124510e-15f), r);
  Value r2 = b.mul(r, r);
  Value sinTail = b.polynomial(
      r2, {-1.666666418e-01f, 8.332703263e-03f, -1.957844361e-04f});
  Value sine = b.fma(b.mul(r, r2), sinTail, r);
  Value cosTail =
      b.polynomial(r2, {4.166666418e-02f, -1.388825825e-03f, 2.453847446e-05f});
  Value cosine = b.fma(r2, b.constant(-0.5f), b.constant(1.0f));
  cosine = b.fma(b.mul(r2, r2), cosTail, cosine);

  Value k = b.onBits<arith::SubIOp>(quadrant.bits, b.integer(shift));
  Value odd = b.onBits<arith::AndIOp>(k, b.integer(1));
  Value oddMask = b.onBits<arith::SubIOp>(b.integer(0), odd);
  Value difference = b.onBits<arith::XOrIOp>(b.toBits(sine), b.toBits(cosine));
  Value chosen = b.onBits<arith::XOrIOp>(
      b.toBits(cosine), b.onBits<arith::AndIOp>(difference, oddMask));
  Value negative = b.onBits<arith::AndIOp>(
      b.onBits<arith::AddIOp>(k, b.integer(1)), b.integer(2));
  Value sign = b.onBits<arith::ShLIOp>(negative, b.integer(30));
  return b.fromBits(b.onBits<arith::XOrIOp>(chosen, sign));
}

Value emitCos(FloatBuilder &b, Value x) { return shiftedCos(b, x, 0); }
Value emitSin(FloatBuilder &b, Value x) { return shiftedCos(b, x, 1); }

} // namespace tessera
