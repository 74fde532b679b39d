//===- LaneWalk.cpp - loops over [lo, hi) by vectors ----------------------===//

#include "LaneWalk.h"
#include "VectorMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace tessera {

/// lo plus the largest multiple of `step`, a power of two, within the range.
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

/// The body sees every carried value in a full block, else the first of each
/// quantity.
void LaneWalk::runBlock(OpBuilder &builder, const LaneBlock &block) {
  unsigned vectors = block.starts.size();
  SmallVector<Value> seen;
  for (unsigned i = 0; i < carried.size(); ++i)
    if (i % unroll < vectors)
      seen.push_back(carried[i]);
  SmallVector<Value> updated = body(builder, block, seen);
  for (unsigned i = 0, next = 0; i < carried.size(); ++i)
    if (i % unroll < vectors)
      carried[i] = updated[next++];
}

void LaneWalk::emitLoop(OpBuilder &builder, Value lo, Value hi,
                        unsigned vectors) {
  Value step = constantI64(builder, loc, int64_t(vectors) * lanes);
  auto loop = scf::ForOp::create(builder, loc, lo, hi, step, carried);
  OpBuilder inside = OpBuilder::atBlockBegin(loop.getBody());
  llvm::copy(loop.getRegionIterArgs(), carried.begin());
  LaneBlock block;
  block.enclosing = loop;
  for (unsigned i = 0; i < vectors; ++i) {
    Value offset = constantI64(inside, loc, int64_t(i) * lanes);
    block.starts.push_back(
        arith::AddIOp::create(inside, loc, loop.getInductionVar(), offset));
  }
  runBlock(inside, block);
  if (!carried.empty())
    scf::YieldOp::create(inside, loc, carried);
  llvm::copy(loop.getResults(), carried.begin());
}

void LaneWalk::emitStaticRest(OpBuilder &builder, Value lo, int64_t rest) {
  SmallVector<bool> bits(lanes, false);
  std::fill_n(bits.begin(), rest, true);
  LaneBlock block;
  block.starts.push_back(lo);
  auto type = VectorType::get({lanes}, builder.getI1Type());
  block.mask = arith::ConstantOp::create(builder, loc,
                                         DenseElementsAttr::get(type, bits));
  runBlock(builder, block);
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
  LaneBlock block;
  block.enclosing = branch;
  block.starts.push_back(lo);
  block.mask = arith::CmpIOp::create(inside, loc, arith::CmpIPredicate::slt,
                                     laneNumbers(inside, loc, type), count);
  runBlock(inside, block);
}

SmallVector<Value> LaneWalk::emit(OpBuilder &builder, const LaneRange &range,
                                  SmallVector<Value> initial) {
  carried = std::move(initial);
  int64_t blockSize = int64_t(unroll) * lanes;
  Value blocksEnd = roundedEnd(builder, range, blockSize);
  if (!range.size || *range.size >= blockSize)
    emitLoop(builder, range.lo, blocksEnd, unroll);
  Value vectorsEnd = roundedEnd(builder, range, lanes);
  bool hasSingles = !range.size || *range.size % blockSize >= lanes;
  if (unroll > 1 && hasSingles)
    emitLoop(builder, blocksEnd, vectorsEnd, 1);
  if (!range.size)
    emitDynamicRest(builder, range, vectorsEnd);
  else if (int64_t rest = *range.size % lanes)
    emitStaticRest(builder, vectorsEnd, rest);
  return carried;
}

} // namespace tessera
