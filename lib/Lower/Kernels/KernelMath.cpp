//===- KernelMath.cpp - scalar functions in kernels -----------------------===//

#include "lib/Lower/Kernels/KernelWriter.h"

using namespace mlir;
using namespace tessera;

namespace {

/// Short spellings for building arithmetic.
struct Arith {
  OpBuilder &b;
  Location loc;

  Value c(Value like, double v) const {
    Type type = like.getType();
    return arith::ConstantOp::create(b, loc, b.getFloatAttr(type, v));
  }
  Value add(Value x, Value y) const {
    return arith::AddFOp::create(b, loc, x, y);
  }
  Value sub(Value x, Value y) const {
    return arith::SubFOp::create(b, loc, x, y);
  }
  Value mul(Value x, Value y) const {
    return arith::MulFOp::create(b, loc, x, y);
  }
  Value mul(Value x, double y) const { return mul(x, c(x, y)); }
  Value div(Value x, Value y) const {
    return arith::DivFOp::create(b, loc, x, y);
  }
};

constexpr double kSqrt2OverPi = 0.7978845608028654;
constexpr double kCubic = 0.044715;
constexpr double kSqrtHalf = 0.7071067811865476;
constexpr double kInvSqrt2Pi = 0.3989422804014327;

/// tanh(sqrt(2/pi) (x + 0.044715 x^3))
Value geluTanhInner(const Arith &a, Value x) {
  Value cube = a.mul(a.mul(x, x), x);
  Value u = a.mul(a.add(x, a.mul(cube, kCubic)), kSqrt2OverPi);
  return math::TanhOp::create(a.b, a.loc, u);
}

/// 1 / (1 + exp(-x)); far below 0 exp overflows and the result is 0.
Value sigmoid(const Arith &a, Value x) {
  Value e = math::ExpOp::create(a.b, a.loc, a.sub(a.c(x, 0.0), x));
  return a.div(a.c(x, 1.0), a.add(e, a.c(x, 1.0)));
}

} // namespace

Value tessera::widen(OpBuilder &builder, Location loc, Value value) {
  if (!value.getType().isBF16())
    return value;
  return arith::ExtFOp::create(builder, loc, builder.getF32Type(), value);
}

Value tessera::narrow(OpBuilder &builder, Location loc, Value value,
                      Type type) {
  if (value.getType() == type)
    return value;
  if (type.getIntOrFloatBitWidth() < value.getType().getIntOrFloatBitWidth())
    return arith::TruncFOp::create(builder, loc, type, value);
  return arith::ExtFOp::create(builder, loc, type, value);
}

Value tessera::emitFunction(OpBuilder &builder, Location loc,
                            nn::Function function, Value x, double bound) {
  Arith a{builder, loc};
  switch (function) {
  case nn::Function::GeluTanh: {
    Value onePlus = a.add(geluTanhInner(a, x), a.c(x, 1.0));
    return a.mul(a.mul(x, 0.5), onePlus);
  }
  case nn::Function::Gelu: {
    Value erf = math::ErfOp::create(builder, loc, a.mul(x, kSqrtHalf));
    return a.mul(a.mul(x, 0.5), a.add(erf, a.c(x, 1.0)));
  }
  case nn::Function::Relu:
    return arith::MaximumFOp::create(builder, loc, x, a.c(x, 0.0));
  case nn::Function::Exp:
    return math::ExpOp::create(builder, loc, x);
  case nn::Function::Log:
    return math::LogOp::create(builder, loc, x);
  case nn::Function::Sqrt:
    return math::SqrtOp::create(builder, loc, x);
  case nn::Function::Reciprocal:
    return a.div(a.c(x, 1.0), x);
  case nn::Function::ClipFactor:
    return arith::MinimumFOp::create(builder, loc, a.c(x, 1.0),
                                     a.div(a.c(x, bound), x));
  case nn::Function::Rsqrt: {
    Value root = math::SqrtOp::create(builder, loc, a.add(x, a.c(x, bound)));
    return a.div(a.c(x, 1.0), root);
  }
  case nn::Function::Silu:
    return a.mul(x, sigmoid(a, x));
  }
  llvm_unreachable("every function has a body");
}

Value tessera::emitDerivative(OpBuilder &builder, Location loc,
                              nn::Function function, Value x) {
  Arith a{builder, loc};
  switch (function) {
  case nn::Function::GeluTanh: {
    Value t = geluTanhInner(a, x);
    Value half = a.mul(a.add(t, a.c(x, 1.0)), 0.5);
    Value sech2 = a.sub(a.c(x, 1.0), a.mul(t, t));
    Value slope =
        a.mul(a.add(a.mul(a.mul(x, x), 3 * kCubic), a.c(x, 1.0)), kSqrt2OverPi);
    return a.add(half, a.mul(a.mul(a.mul(x, 0.5), sech2), slope));
  }
  case nn::Function::Gelu: {
    Value erf = math::ErfOp::create(builder, loc, a.mul(x, kSqrtHalf));
    Value cdf = a.mul(a.add(erf, a.c(x, 1.0)), 0.5);
    Value e = math::ExpOp::create(builder, loc, a.mul(a.mul(x, x), -0.5));
    return a.add(cdf, a.mul(a.mul(x, kInvSqrt2Pi), e));
  }
  case nn::Function::Relu: {
    Value positive = arith::CmpFOp::create(
        builder, loc, arith::CmpFPredicate::OGT, x, a.c(x, 0.0));
    return arith::SelectOp::create(builder, loc, positive, a.c(x, 1.0),
                                   a.c(x, 0.0));
  }
  case nn::Function::Log:
    return a.div(a.c(x, 1.0), x);
  case nn::Function::Exp:
    return math::ExpOp::create(builder, loc, x);
  case nn::Function::Sqrt:
    return a.div(a.c(x, 0.5), math::SqrtOp::create(builder, loc, x));
  case nn::Function::Reciprocal:
    return a.div(a.c(x, -1.0), a.mul(x, x));
  case nn::Function::Silu: {
    Value s = sigmoid(a, x), rest = a.sub(a.c(x, 1.0), s);
    return a.mul(s, a.add(a.mul(x, rest), a.c(x, 1.0)));
  }
  case nn::Function::ClipFactor:
  case nn::Function::Rsqrt:
    break;
  }
  llvm_unreachable("only the optimizer and decomposed norms use these");
}

Value tessera::emitPhilox(OpBuilder &b, Location loc, Value index, Value key) {
  Type i32 = b.getI32Type();
  auto constant = [&](uint32_t v) -> Value {
    return arith::ConstantOp::create(
        b, loc, b.getIntegerAttr(i32, static_cast<int32_t>(v)));
  };
  auto low = [&](Value v) -> Value {
    return arith::TruncIOp::create(b, loc, i32, v);
  };
  auto high = [&](Value v) -> Value {
    Value shift =
        arith::ConstantOp::create(b, loc, b.getIntegerAttr(v.getType(), 32));
    return low(arith::ShRUIOp::create(b, loc, v, shift));
  };
  auto xorAll = [&](Value x, Value y, Value z) -> Value {
    Value xy = arith::XOrIOp::create(b, loc, x, y);
    return arith::XOrIOp::create(b, loc, xy, z);
  };
  Value c0 = low(index), c1 = high(index), c2 = constant(0), c3 = constant(0);
  Value k0 = low(key), k1 = high(key);
  Value m0 = constant(0xD2511F53u), m1 = constant(0xCD9E8D57u);
  for (int round = 0; round < 10; ++round) {
    auto p = arith::MulUIExtendedOp::create(b, loc, c0, m0);
    auto q = arith::MulUIExtendedOp::create(b, loc, c2, m1);
    c0 = xorAll(q.getHigh(), c1, k0);
    c2 = xorAll(p.getHigh(), c3, k1);
    c1 = q.getLow();
    c3 = p.getLow();
    k0 = arith::AddIOp::create(b, loc, k0, constant(0x9E3779B9u));
    k1 = arith::AddIOp::create(b, loc, k1, constant(0xBB67AE85u));
  }
  return c0;
}
