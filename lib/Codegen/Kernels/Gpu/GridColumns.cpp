//===- GridColumns.cpp - the column schedule on a grid --------------------===//
// A block has a tile of columns, some neighbours per lane, and shares the rows
// among its warps; their sums meet in shared memory and are added in order of
// the warps. Where tiles alone do not fill a GPU, blocks take slices of the
// rows too: GridColumnSlices.cpp.
//===----------------------------------------------------------------------===//

#include "lib/Codegen/Kernels/Accumulators.h"
#include "lib/Codegen/Kernels/Gpu/GridEmitter.h"
#include "lib/Codegen/Kernels/VectorMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tessera {

void GridEmitter::chooseColumnGrid() {
  auto tiles = [&] { return llvm::divideCeil(kernel.cols, kWarp * lanes); };
  if (part.stage == Stage::Partial) {
    lanes = part.slices.lanes;
    grid.threads = kWarpsOfSlice * kWarp;
    grid.blocks = tiles() * part.slices.count;
    return;
  }
  // With more, a thread has too few registers for long bodies.
  constexpr int64_t maxWarps = 16;
  bool isTotal = part.stage == Stage::Total;
  int64_t rows = isTotal ? part.slices.count : kernel.rows;
  int64_t warps =
      std::clamp<int64_t>(llvm::PowerOf2Ceil(rows / 8), 1, maxWarps);
  grid.threads = warps * kWarp;
  lanes = isTotal ? 1 : lanesOfPlanes(kernel, lengthsOfRows(kernel));
  while (lanes > 1 &&
         (tiles() < uint64_t(4 * kMultiprocessors) ||
          sharedBytesOfSums(schedule, warps, lanes) > kMaxSharedBytes))
    lanes /= 2;
  grid.blocks = tiles();
}

std::pair<Value, Value> GridEmitter::chooseColumns(Value tile) {
  OpBuilder &builder = uniform.builder;
  auto times = [&](Value value, int64_t factor) -> Value {
    return arith::MulIOp::create(builder, loc, value,
                                 constantI64(builder, loc, factor));
  };
  Value column = arith::AddIOp::create(builder, loc, times(tile, kWarp * lanes),
                                       times(lane, lanes));
  // Without a rest the condition is a constant and folds away.
  if (kernel.cols % (kWarp * lanes) == 0)
    return {column, constantTrue(builder)};
  Value active =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, column,
                            constantI64(builder, loc, kernel.cols));
  // A lane without a column reads the first one, and stores nothing.
  column = arith::SelectOp::create(builder, loc, active, column,
                                   constantI64(builder, loc, 0));
  return {column, active};
}

void GridEmitter::emitColumns() {
  chooseColumnGrid();
  auto [column, active] = chooseColumns(tileOfBlock());
  Scope scope(guard(uniform.builder, constantTrue(uniform.builder)));
  leaveToUniform(scope);
  Position position{
      {&uniform, nullptr, &scope, nullptr}, {}, column, lanes, Value()};
  for (const Phase &phase : schedule.phases) {
    for (linalg::GenericOp op : phase.before)
      body.emitGeneric(op, position);
    if (!phase.hasLoop())
      continue;
    LaneValues sums = emitColumnLoop(phase, position, active);
    if (part.stage == Stage::Partial)
      return storePartialSums(phase, sums, position, active);
    for (auto [reduction, sum] : llvm::zip(phase.reductions, sums))
      scope.values[reduction.result()] = withInit(reduction, sum, position);
  }
  OpBuilder &last = scope.builder;
  // A result may lie over an argument that another warp still reads.
  NVVM::Barrier0Op::create(last, loc);
  scope.builder = guard(last, isStoring(last, active));
  storeResults(kCol, position);
}

/// One warp of a block stores what all of them have.
Value GridEmitter::isStoring(OpBuilder &builder, Value active) {
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        warp, constantI64(builder, loc, 0));
  return arith::AndIOp::create(builder, loc, isFirst, active);
}

LaneValues GridEmitter::emitColumnLoop(const Phase &phase, Position column,
                                       Value active) {
  Scope &scope = column.scope(kCol);
  OpBuilder builder = scope.builder;
  LaneValues start = identities(phase, lanes, builder);
  SmallVector<Type> types(ValueRange(start).getTypes());
  auto branch = scf::IfOp::create(builder, loc, types, active,
                                  /*withElse=*/!start.empty());
  scope.builder.setInsertionPoint(branch);
  if (!start.empty()) {
    OpBuilder otherwise = OpBuilder::atBlockBegin(branch.elseBlock());
    scf::YieldOp::create(otherwise, loc, start);
  }
  OpBuilder then = OpBuilder::atBlockBegin(branch.thenBlock());
  auto emitGroup = [&](OpBuilder &inside, ArrayRef<Value> rows,
                       LaneValues carried) {
    return part.stage == Stage::Total
               ? addPartialSums(inside, phase, rows, column.column, carried)
               : emitRowGroup(inside, phase, rows, column, carried);
  };
  LaneValues sums = walkRows(then, rowsOfBlock(then, phase), start, emitGroup);
  if (!sums.empty())
    scf::YieldOp::create(then, loc, sums);

  scope.builder = builder;
  LaneValues all;
  for (auto [reduction, sum] : llvm::zip(phase.reductions, branch.getResults()))
    all.push_back(combineWarps(scope.builder, reduction, sum));
  return all;
}

} // namespace tessera
