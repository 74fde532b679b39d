//===- GridReductions.cpp - reductions over threads -----------------------===//
// Always in the same order, so a result has the same bits in every run.
//===----------------------------------------------------------------------===//

#include "lib/Codegen/Kernels/Accumulators.h"
#include "lib/Codegen/Kernels/Gpu/GridEmitter.h"
#include "lib/Codegen/Kernels/VectorMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace tessera {

static int64_t bytesOf(Type type) { return type.getIntOrFloatBitWidth() / 8; }

/// The value of lane (own ^ mask); f64 goes in halves.
static Value shuffle(OpBuilder &builder, Location loc, Value value,
                     int32_t mask) {
  if (value.getType().isF64()) {
    Type i32 = builder.getI32Type();
    auto single = VectorType::get({1}, value.getType());
    Value halves = vector::BitCastOp::create(
        builder, loc, VectorType::get({2}, i32),
        vector::BroadcastOp::create(builder, loc, single, value));
    Value all = halves;
    for (int64_t i : {0, 1}) {
      Value half = vector::ExtractOp::create(builder, loc, halves, i);
      half = shuffle(builder, loc, half, mask);
      all = vector::InsertOp::create(builder, loc, half, all, i);
    }
    Value whole = vector::BitCastOp::create(builder, loc, single, all);
    return vector::ExtractOp::create(builder, loc, whole, int64_t(0));
  }
  Value everyLane = constantI32(builder, loc, -1);
  Value clamp = constantI32(builder, loc, GridEmitter::kWarp - 1);
  return NVVM::ShflOp::create(builder, loc, value.getType(), everyLane, value,
                              constantI32(builder, loc, mask), clamp,
                              NVVM::ShflKind::bfly, UnitAttr());
}

/// A butterfly: five steps, and every lane has the result.
Value GridEmitter::combineWarp(OpBuilder &builder, const Reduction &reduction,
                               Value value) {
  for (int32_t distance = kWarp / 2; distance > 0; distance /= 2) {
    Value other = shuffle(builder, loc, value, distance);
    value = combine(builder, loc, reduction, value, other);
  }
  return value;
}

Value GridEmitter::combineGroup(OpBuilder &builder, const Reduction &reduction,
                                Value value) {
  value = combineWarp(builder, reduction, value);
  int64_t warps = groupThreads / kWarp;
  if (warps == 1)
    return value;
  // Slots are used once by a block, so one barrier is enough.
  Type type = value.getType();
  Value slots = sharedPointer(
      builder, constantI64(builder, loc, reserveShared(bytesOf(type) * kWarp)));
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        lane, constantI64(builder, loc, 0));
  OpBuilder leader = guard(builder, isFirst);
  store(leader, loc, value, advance(leader, loc, slots, type, warp), Value());
  NVVM::Barrier0Op::create(builder, loc);
  Value exists = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                       lane, constantI64(builder, loc, warps));
  Value stored =
      loadScalar(builder, loc, advance(builder, loc, slots, type, lane), type);
  Value part = arith::SelectOp::create(
      builder, loc, exists, stored, identityOf(builder, loc, reduction, type));
  return combineWarp(builder, reduction, part);
}

Value GridEmitter::combineWarps(OpBuilder &builder, const Reduction &reduction,
                                Value value) {
  int64_t warps = grid.threads / kWarp;
  if (warps == 1)
    return value;
  auto vector = cast<VectorType>(value.getType());
  Type element = vector.getElementType();
  int64_t row = kWarp * vector.getNumElements();
  unsigned alignment = body.alignmentOf(element, vector.getNumElements());
  Value slots = sharedPointer(
      builder,
      constantI64(builder, loc, reserveShared(bytesOf(element) * row * warps)));
  Value own = arith::MulIOp::create(
      builder, loc, lane, constantI64(builder, loc, vector.getNumElements()));
  slots = advance(builder, loc, slots, element, own);
  Value offset =
      arith::MulIOp::create(builder, loc, warp, constantI64(builder, loc, row));
  store(builder, loc, value, advance(builder, loc, slots, element, offset),
        Value(), alignment);
  NVVM::Barrier0Op::create(builder, loc);
  Value sum;
  for (int64_t i = 0; i < warps; ++i) {
    Value at = advance(builder, loc, slots, element,
                       constantI64(builder, loc, i * row));
    Value part = loadLanes(builder, loc, at, vector, Value(), alignment);
    sum = sum ? combine(builder, loc, reduction, sum, part) : part;
  }
  return sum;
}

} // namespace tessera
