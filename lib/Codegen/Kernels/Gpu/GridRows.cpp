//===- GridRows.cpp - the row schedule on a grid --------------------------===//
// A row is walked by a group of threads: a warp, so that several rows share a
// block and no barrier is needed, or for long rows the whole block. A thread
// comes back to the same columns in every phase, so what it keeps for a later
// phase nobody else reads.
//===----------------------------------------------------------------------===//

#include "lib/Codegen/Kernels/Accumulators.h"
#include "lib/Codegen/Kernels/Gpu/GridEmitter.h"
#include "lib/Codegen/Kernels/VectorMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tessera {

/// A warp takes rows of up to this many of its vectors.
static constexpr int64_t kWarpSteps = 16;
static constexpr int64_t kWarpsPerBlock = 8;

static int64_t scratchBytes(const Schedule &schedule, int64_t cols) {
  int64_t bytes = 0;
  for (const Phase &phase : schedule.phases)
    for (Value value : phase.spills)
      bytes += llvm::alignTo(
          cols *
              cast<RankedTensorType>(value.getType()).getElementTypeBitWidth() /
              8,
          16);
  return bytes;
}

void GridEmitter::chooseRowGroups() {
  lanes = lanesOfPlanes(kernel, lengthsOfRows(kernel));
  int64_t vectors = llvm::divideCeil(kernel.cols, lanes);
  int64_t groups = std::min(kWarpsPerBlock, kernel.rows);
  bool fits = scratchBytes(schedule, kernel.cols) * groups <= kMaxSharedBytes;
  if (vectors <= kWarpSteps * kWarp && fits) {
    grid.threads = groups * kWarp;
    grid.blocks = llvm::divideCeil(kernel.rows, groups);
    return;
  }
  int64_t threads = llvm::alignTo(llvm::divideCeil(vectors, 4), kWarp);
  groupThreads = grid.threads = std::min<int64_t>(1024, threads);
  grid.blocks = kernel.rows;
}

/// Row `group` of the block has its own scratch.
void GridEmitter::allocateScratch(OpBuilder &builder, Value group) {
  int64_t groups = grid.threads / groupThreads;
  for (const Phase &phase : schedule.phases)
    for (Value value : phase.spills) {
      auto type = cast<RankedTensorType>(value.getType());
      int64_t bytes =
          llvm::alignTo(kernel.cols * type.getElementTypeBitWidth() / 8, 16);
      Value start = constantI64(builder, loc, reserveShared(bytes * groups));
      Value own = arith::MulIOp::create(builder, loc, group,
                                        constantI64(builder, loc, bytes));
      body.scratch[value] = sharedPointer(
          builder, arith::AddIOp::create(builder, loc, start, own));
    }
}

void GridEmitter::emitRows() {
  chooseRowGroups();
  OpBuilder &builder = uniform.builder;
  int64_t groups = grid.threads / groupThreads;
  Value group = groupIsWarp() ? warp : constantI64(builder, loc, 0);
  allocateScratch(builder, group);
  Value first = arith::MulIOp::create(builder, loc, block,
                                      constantI64(builder, loc, groups));
  Value row = arith::AddIOp::create(builder, loc, first, group);
  // Without a rest the condition is a constant: barriers need all threads.
  Value exists =
      kernel.rows % groups == 0
          ? constantTrue(builder)
          : arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, row,
                                  constantI64(builder, loc, kernel.rows))
                .getResult();
  Scope rowScope(guard(builder, exists));
  leaveToUniform(rowScope);
  Position position{{&uniform, &rowScope, nullptr, nullptr}, row};
  for (const Phase &phase : schedule.phases) {
    for (linalg::GenericOp op : phase.before)
      body.emitGeneric(op, position);
    if (phase.hasLoop())
      emitRowLoop(phase, rowScope, row);
  }
  OpBuilder &last = rowScope.builder;
  // A result may lie over an argument that another thread still reads.
  if (groupIsWarp())
    NVVM::SyncWarpOp::create(last, loc, constantI32(last, loc, -1));
  else
    NVVM::Barrier0Op::create(last, loc);
  Value isFirst = arith::CmpIOp::create(last, loc, arith::CmpIPredicate::eq,
                                        member(), constantI64(last, loc, 0));
  // What the results still need is computed in there too.
  rowScope.builder = guard(last, isFirst);
  storeResults(kRow, position);
}

/// Which lanes are columns, not padding of the row; null: all.
Value GridEmitter::existing(const Position &position) {
  if (kernel.cols % lanes == 0)
    return {};
  OpBuilder &builder = position.scope(kCol).builder;
  auto type = VectorType::get({lanes}, builder.getI64Type());
  Value column = arith::AddIOp::create(
      builder, loc, body.lanesOf(position.column, builder, lanes),
      laneNumbers(builder, loc, type));
  Value end = constantI64(builder, loc, kernel.cols);
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, column,
                               body.lanesOf(end, builder, lanes));
}

void GridEmitter::emitRowLoop(const Phase &phase, Scope &rowScope, Value row) {
  OpBuilder builder = rowScope.builder;
  Value first = arith::MulIOp::create(builder, loc, member(),
                                      constantI64(builder, loc, lanes));
  auto loop = scf::ForOp::create(
      builder, loc, first, constantI64(builder, loc, kernel.cols),
      constantI64(builder, loc, groupThreads * lanes),
      identities(phase, lanes, builder));
  rowScope.builder.setInsertionPoint(loop);
  OpBuilder inside = OpBuilder::atBlockBegin(loop.getBody());
  Scope laneScope(inside);
  Position step{{&uniform, &rowScope, &laneScope, &laneScope},
                row,
                loop.getInductionVar(),
                lanes,
                Value()};
  LaneValues sums =
      emitStep(phase, step, loop.getRegionIterArgs(), existing(step));
  if (!sums.empty())
    scf::YieldOp::create(laneScope.builder, loc, sums);

  rowScope.builder = builder;
  Position position{{&uniform, &rowScope, nullptr, nullptr}, row};
  for (auto [reduction, sum] : llvm::zip(phase.reductions, loop.getResults())) {
    OpBuilder &after = rowScope.builder;
    Value own = combineLanes(after, loc, reduction, sum, 1);
    Value all = combineGroup(after, reduction, own);
    rowScope.values[reduction.result()] = withInit(reduction, all, position);
  }
}

} // namespace tessera
