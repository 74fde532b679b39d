//===- LaneWalk.cpp - loops over [lo, hi) by vectors ----------------------===//

#include "lib/Codegen/Kernels/LaneWalk.h"
#include "lib/Codegen/Kernels/VectorMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace tessera {

/// Returns lo plus the largest multiple of `step`, a power of two, within the
/// range.
Value LaneWalk::roundedEnd(OpBuilder &builder, const LaneRange &range,
                           int64_t step) {
  Value whole;
  if (range.size) {
    whole = constantI64(builder, loc, *range.size / step * step);
  } else {
    Value size = arith::SubIOp::create(builder, loc, range.hi, range.lo);
    whole = arith::AndIOp::create(builder, loc, size,
                                  constantI64(builder, loc, -step));
  }
  return arith::AddIOp::create(builder, loc, range.lo, whole);
}

void LaneWalk::emitLoop(OpBuilder &builder, Value lo, Value hi, unsigned step) {
  auto loop = scf::ForOp::create(builder, loc, lo, hi,
                                 constantI64(builder, loc, step), carried);
  OpBuilder inside = OpBuilder::atBlockBegin(loop.getBody());
  LaneBlock block{loop.getInductionVar(), step, Value(), loop};
  LaneValues updated = hooks.body(inside, block, loop.getRegionIterArgs());
  if (!carried.empty())
    scf::YieldOp::create(inside, loc, updated);
  llvm::copy(loop.getResults(), carried.begin());
}

void LaneWalk::emitStaticRest(OpBuilder &builder, Value lo, int64_t rest) {
  SmallVector<bool> bits(lanes, false);
  std::fill_n(bits.begin(), rest, true);
  auto type = VectorType::get({lanes}, builder.getI1Type());
  Value mask = arith::ConstantOp::create(builder, loc,
                                         DenseElementsAttr::get(type, bits));
  carried = hooks.body(builder, LaneBlock{lo, lanes, mask, nullptr}, carried);
}

void LaneWalk::emitDynamicRest(OpBuilder &builder, const LaneRange &range,
                               Value lo) {
  Value hasRest = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                        lo, range.hi);
  auto branch = scf::IfOp::create(builder, loc, hasRest, false);
  OpBuilder inside = branch.getThenBodyBuilder();
  Value rest = arith::SubIOp::create(inside, loc, range.hi, lo);
  Type i32 = inside.getI32Type();
  auto type = VectorType::get({lanes}, i32);
  Value count = vector::BroadcastOp::create(
      inside, loc, type, arith::TruncIOp::create(inside, loc, i32, rest));
  Value mask = arith::CmpIOp::create(inside, loc, arith::CmpIPredicate::slt,
                                     laneNumbers(inside, loc, type), count);
  hooks.body(inside, LaneBlock{lo, lanes, mask, branch}, {});
}

LaneValues LaneWalk::emit(OpBuilder &builder, const LaneRange &range) {
  Value lo = range.lo;
  bool isWide = wideLanes > lanes && (!range.size || *range.size >= wideLanes);
  carried = hooks.initial(builder, isWide ? wideLanes : lanes);
  if (isWide) {
    Value end = roundedEnd(builder, range, wideLanes);
    emitLoop(builder, lo, end, wideLanes);
    carried = hooks.narrow(builder, carried);
    lo = end;
  }
  Value end = roundedEnd(builder, range, lanes);
  int64_t left =
      isWide ? range.size.value_or(0) % wideLanes : range.size.value_or(0);
  if (!range.size || left >= lanes)
    emitLoop(builder, lo, end, lanes);
  if (!range.size)
    emitDynamicRest(builder, range, end);
  else if (int64_t rest = *range.size % lanes)
    emitStaticRest(builder, end, rest);
  return carried;
}

} // namespace tessera
