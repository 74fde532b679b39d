//===- KernelMath.cpp - scalar arithmetic in the bodies of kernels --------===//

#include "lib/Lower/Kernels/KernelMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "tessera/Partition/Factors.h"

using namespace mlir;
using namespace tessera;

Value tessera::widen(OpBuilder &builder, Location loc, Value value) {
  if (value.getType().isInteger(8))
    return arith::SIToFPOp::create(builder, loc, builder.getF32Type(), value);
  if (!value.getType().isBF16())
    return value;
  return arith::ExtFOp::create(builder, loc, builder.getF32Type(), value);
}

Value tessera::narrow(OpBuilder &builder, Location loc, Value value,
                      Type type) {
  if (value.getType() == type)
    return value;
  if (type.isInteger(8))
    return arith::FPToSIOp::create(builder, loc, type, value);
  if (type.getIntOrFloatBitWidth() < value.getType().getIntOrFloatBitWidth())
    return arith::TruncFOp::create(builder, loc, type, value);
  return arith::ExtFOp::create(builder, loc, type, value);
}

Value tessera::constantLike(OpBuilder &builder, Location loc, Value like,
                            double value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getFloatAttr(like.getType(), value));
}

Value tessera::zeroUnless(OpBuilder &builder, Location loc, Value condition,
                          Value value) {
  return arith::SelectOp::create(builder, loc, condition, value,
                                 constantLike(builder, loc, value, 0.0));
}

Value tessera::index64(OpBuilder &builder, Location loc, int64_t dim) {
  Value index = linalg::IndexOp::create(builder, loc, dim);
  return arith::IndexCastOp::create(builder, loc, builder.getI64Type(), index);
}

Value tessera::indexAlong(OpBuilder &b, Location loc, ArrayRef<int64_t> sizes,
                          int64_t columns, unsigned dim) {
  int64_t left = 1;
  for (int64_t size : sizes.drop_front(dim + 1))
    left *= size;
  bool inColumns = left < columns;
  Value index = index64(b, loc, inColumns ? 1 : 0);
  int64_t divisor = inColumns ? left : left / columns;
  if (divisor > 1)
    index = arith::DivUIOp::create(b, loc, index, i64(b, loc, divisor));
  // Rows of dimensions of size 1 after the first are not the first's.
  bool isOutermost = dim == 0 || (inColumns && left * sizes[dim] == columns);
  if (isOutermost)
    return index;
  return arith::RemUIOp::create(b, loc, index, i64(b, loc, sizes[dim]));
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
