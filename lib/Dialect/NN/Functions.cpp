//===- Functions.cpp - the functions of nn.map ----------------------------===//

#include "tessera/Dialect/NN/Functions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::nn;

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Value ScalarMath::constant(Value like, double value) const {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getFloatAttr(like.getType(), value));
}
Value ScalarMath::add(Value x, Value y) const {
  return arith::AddFOp::create(builder, loc, x, y);
}
Value ScalarMath::add(Value x, double y) const {
  return add(x, constant(x, y));
}
Value ScalarMath::sub(Value x, Value y) const {
  return arith::SubFOp::create(builder, loc, x, y);
}
Value ScalarMath::sub(double x, Value y) const {
  return sub(constant(y, x), y);
}
Value ScalarMath::mul(Value x, Value y) const {
  return arith::MulFOp::create(builder, loc, x, y);
}
Value ScalarMath::mul(Value x, double y) const {
  return mul(x, constant(x, y));
}
Value ScalarMath::div(Value x, Value y) const {
  return arith::DivFOp::create(builder, loc, x, y);
}
Value ScalarMath::div(double x, Value y) const {
  return div(constant(y, x), y);
}

//===----------------------------------------------------------------------===//
// Formulas
//===----------------------------------------------------------------------===//

static constexpr double kSqrt2OverPi = 0.7978845608028654;
static constexpr double kCubic = 0.044715;
static constexpr double kSqrtHalf = 0.7071067811865476;
static constexpr double kInvSqrt2Pi = 0.3989422804014327;

static Value expOf(const ScalarMath &m, Value x) {
  return math::ExpOp::create(m.builder, m.loc, x);
}
static Value sqrtOf(const ScalarMath &m, Value x) {
  return math::SqrtOp::create(m.builder, m.loc, x);
}

/// Computes tanh(sqrt(2/pi) (x + 0.044715 x^3)).
static Value geluTanhInner(const ScalarMath &m, Value x) {
  Value cube = m.mul(m.mul(x, x), x);
  Value u = m.mul(m.add(x, m.mul(cube, kCubic)), kSqrt2OverPi);
  return math::TanhOp::create(m.builder, m.loc, u);
}
static Value geluTanh(const ScalarMath &m, Value x, double) {
  Value onePlus = m.add(geluTanhInner(m, x), 1.0);
  return m.mul(m.mul(x, 0.5), onePlus);
}
static Value geluTanhSlope(const ScalarMath &m, Value x) {
  Value t = geluTanhInner(m, x);
  Value half = m.mul(m.add(t, 1.0), 0.5);
  Value sech2 = m.sub(1.0, m.mul(t, t));
  Value slope = m.mul(m.add(m.mul(m.mul(x, x), 3 * kCubic), 1.0), kSqrt2OverPi);
  return m.add(half, m.mul(m.mul(m.mul(x, 0.5), sech2), slope));
}

static Value erfOfGelu(const ScalarMath &m, Value x) {
  return math::ErfOp::create(m.builder, m.loc, m.mul(x, kSqrtHalf));
}
static Value gelu(const ScalarMath &m, Value x, double) {
  Value erf = erfOfGelu(m, x);
  return m.mul(m.mul(x, 0.5), m.add(erf, 1.0));
}
static Value geluSlope(const ScalarMath &m, Value x) {
  Value cdf = m.mul(m.add(erfOfGelu(m, x), 1.0), 0.5);
  Value e = expOf(m, m.mul(m.mul(x, x), -0.5));
  return m.add(cdf, m.mul(m.mul(x, kInvSqrt2Pi), e));
}

static Value relu(const ScalarMath &m, Value x, double) {
  return arith::MaximumFOp::create(m.builder, m.loc, x, m.constant(x, 0.0));
}
static Value reluSlope(const ScalarMath &m, Value x) {
  Value positive = arith::CmpFOp::create(
      m.builder, m.loc, arith::CmpFPredicate::OGT, x, m.constant(x, 0.0));
  Value one = m.constant(x, 1.0), zero = m.constant(x, 0.0);
  return arith::SelectOp::create(m.builder, m.loc, positive, one, zero);
}

static Value exponential(const ScalarMath &m, Value x, double) {
  return expOf(m, x);
}

static Value logarithm(const ScalarMath &m, Value x, double) {
  return math::LogOp::create(m.builder, m.loc, x);
}
static Value logarithmSlope(const ScalarMath &m, Value x) {
  return m.div(1.0, x);
}

static Value squareRoot(const ScalarMath &m, Value x, double) {
  return sqrtOf(m, x);
}
static Value squareRootSlope(const ScalarMath &m, Value x) {
  Value half = m.constant(x, 0.5);
  return m.div(half, sqrtOf(m, x));
}

static Value reciprocal(const ScalarMath &m, Value x, double) {
  return m.div(1.0, x);
}
static Value reciprocalSlope(const ScalarMath &m, Value x) {
  Value minusOne = m.constant(x, -1.0);
  return m.div(minusOne, m.mul(x, x));
}

/// Computes min(1, bound / x).
static Value clipFactor(const ScalarMath &m, Value x, double bound) {
  Value one = m.constant(x, 1.0);
  return arith::MinimumFOp::create(m.builder, m.loc, one, m.div(bound, x));
}

/// 1 / sqrt(x + bound)
static Value rsqrt(const ScalarMath &m, Value x, double bound) {
  return m.div(1.0, sqrtOf(m, m.add(x, bound)));
}

/// Computes 1 / (1 + exp(-x)); far below 0 exp overflows and the result is 0.
static Value sigmoid(const ScalarMath &m, Value x) {
  Value e = expOf(m, m.sub(0.0, x));
  return m.div(1.0, m.add(e, 1.0));
}
static Value silu(const ScalarMath &m, Value x, double) {
  return m.mul(x, sigmoid(m, x));
}
static Value siluSlope(const ScalarMath &m, Value x) {
  Value s = sigmoid(m, x), rest = m.sub(1.0, s);
  return m.mul(s, m.add(m.mul(x, rest), 1.0));
}

static Value sigmoidOf(const ScalarMath &m, Value x, double) {
  return sigmoid(m, x);
}
static Value sigmoidSlope(const ScalarMath &m, Value x) {
  Value s = sigmoid(m, x);
  return m.mul(s, m.sub(1.0, s));
}

static Value tangent(const ScalarMath &m, Value x, double) {
  return math::TanhOp::create(m.builder, m.loc, x);
}
static Value tangentSlope(const ScalarMath &m, Value x) {
  Value t = math::TanhOp::create(m.builder, m.loc, x);
  return m.sub(1.0, m.mul(t, t));
}

/// x - x is 0, and NaN of infinity and NaN.
static Value isFinite(const ScalarMath &m, Value x, double) {
  Value one = m.constant(x, 1.0), zero = m.constant(x, 0.0);
  Value finite = arith::CmpFOp::create(
      m.builder, m.loc, arith::CmpFPredicate::OEQ, m.sub(x, x), zero);
  return arith::SelectOp::create(m.builder, m.loc, finite, one, zero);
}

static Value sign(const ScalarMath &m, Value x, double) {
  Value zero = m.constant(x, 0.0);
  auto choose = [&](arith::CmpFPredicate when, double value, Value otherwise) {
    Value is = arith::CmpFOp::create(m.builder, m.loc, when, x, zero);
    return arith::SelectOp::create(m.builder, m.loc, is, m.constant(x, value),
                                   otherwise);
  };
  Value above = choose(arith::CmpFPredicate::OGT, 1.0, zero);
  return choose(arith::CmpFPredicate::OLT, -1.0, above);
}

//===----------------------------------------------------------------------===//
// The table, in the order of the enum
//===----------------------------------------------------------------------===//

using Info = FunctionInfo;

static constexpr FunctionInfo kFunctions[] = {
    {Function::GeluTanh, geluTanh, geluTanhSlope, "ZXF", "FXF", Info::IsCostly},
    {Function::Gelu, gelu, geluSlope, "ZXF", "FXF", Info::IsCostly},
    {Function::Relu, relu, reluSlope, "ZZF", "ZZF", Info::HasStepDerivative},
    {Function::Exp, exponential, expOf, "FZX", "FZX",
     Info::IsCostly | Info::IsOwnDerivative},
    {Function::Log, logarithm, logarithmSlope, "NXX", "XZX", Info::IsCostly},
    {Function::Sqrt, squareRoot, squareRootSlope, "ZXX", "XXX", Info::IsCostly},
    {Function::Reciprocal, reciprocal, reciprocalSlope, "XZX", "XZX",
     Info::IsCostly},
    {Function::ClipFactor, clipFactor, nullptr, "XZX", "XXX",
     Info::IsCostly | Info::TakesBound},
    {Function::Rsqrt, rsqrt, nullptr, "XXX", "XXX",
     Info::IsCostly | Info::TakesBound},
    {Function::Silu, silu, siluSlope, "ZXF", "FXF", Info::IsCostly},
    {Function::IsFinite, isFinite, nullptr, "FZF", "XXX", 0},
    {Function::Sign, sign, nullptr, "ZFF", "XXX", 0},
    {Function::Tanh, tangent, tangentSlope, "ZFF", "FZF", Info::IsCostly},
    {Function::Sigmoid, sigmoidOf, sigmoidSlope, "FZF", "FZF", Info::IsCostly},
};

static constexpr bool hasRowPerFunction() {
  if (std::size(kFunctions) != getMaxEnumValForFunction() + 1)
    return false;
  for (unsigned k = 0; k < std::size(kFunctions); ++k)
    if (static_cast<unsigned>(kFunctions[k].function) != k)
      return false;
  return true;
}
static_assert(hasRowPerFunction(), "every function has a row, in order");

const FunctionInfo &tessera::nn::infoOf(Function function) {
  return kFunctions[static_cast<unsigned>(function)];
}
