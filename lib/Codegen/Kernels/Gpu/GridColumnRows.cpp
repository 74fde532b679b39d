//===- GridColumnRows.cpp - the rows of a column kernel's block -----------===//
// A warp takes a few neighbouring rows at once: that many loads of a thread are
// in flight before the first is used. Sums go through them in order.
//===----------------------------------------------------------------------===//

#include "lib/Codegen/Kernels/Gpu/GridEmitter.h"
#include "lib/Codegen/Kernels/VectorMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tessera {

GridEmitter::SharedRows GridEmitter::rowsOfBlock(OpBuilder &builder,
                                                 const Phase &phase) {
  SharedRows rows;
  rows.total = part.stage == Stage::Total ? part.slices.count : kernel.rows;
  // A step that adds partial sums has nothing else to do.
  rows.group =
      rowsInFlight(kernel, part.stage == Stage::Total ? Phase() : phase);
  Value total = constantI64(builder, loc, rows.total);
  if (part.stage != Stage::Partial) {
    rows.begin = constantI64(builder, loc, 0);
    rows.end = total;
    return rows;
  }
  Value size = constantI64(builder, loc, part.slices.rows);
  rows.begin = arith::MulIOp::create(builder, loc, slice, size);
  rows.end = arith::AddIOp::create(builder, loc, rows.begin, size);
  if (rows.total % part.slices.rows != 0)
    rows.end = arith::MinSIOp::create(builder, loc, rows.end, total);
  return rows;
}

LaneValues GridEmitter::walkRows(OpBuilder &builder, const SharedRows &rows,
                                 LaneValues carried, GroupBody emitGroup) {
  int64_t group = rows.group, whole = rows.total / group * group;
  Value boundary = constantI64(builder, loc, whole);
  bool hasRest = whole < rows.total;
  if (whole > 0) {
    Value own = arith::MulIOp::create(builder, loc, warp,
                                      constantI64(builder, loc, group));
    Value first = arith::AddIOp::create(builder, loc, rows.begin, own);
    Value end = hasRest
                    ? arith::MinSIOp::create(builder, loc, rows.end, boundary)
                          .getResult()
                    : rows.end;
    carried = walkGroups(builder, first, end, group, carried, emitGroup);
  }
  if (!hasRest)
    return carried;
  Value first = arith::MaxSIOp::create(builder, loc, rows.begin, boundary);
  first = arith::AddIOp::create(builder, loc, first, warp);
  return walkGroups(builder, first, rows.end, 1, carried, emitGroup);
}

LaneValues GridEmitter::walkGroups(OpBuilder &builder, Value first, Value end,
                                   int64_t group, const LaneValues &carried,
                                   GroupBody emitGroup) {
  int64_t step = grid.threads / kWarp * group;
  auto loop = scf::ForOp::create(builder, loc, first, end,
                                 constantI64(builder, loc, step), carried);
  OpBuilder inside = OpBuilder::atBlockBegin(loop.getBody());
  SmallVector<Value> rows = {loop.getInductionVar()};
  for (int64_t i = 1; i < group; ++i)
    rows.push_back(arith::AddIOp::create(inside, loc, rows.front(),
                                         constantI64(inside, loc, i)));
  LaneValues sums =
      emitGroup(inside, rows, LaneValues(loop.getRegionIterArgs()));
  if (!sums.empty())
    scf::YieldOp::create(inside, loc, sums);
  return LaneValues(loop.getResults());
}

LaneValues GridEmitter::emitRowGroup(OpBuilder &builder, const Phase &phase,
                                     ArrayRef<Value> rows,
                                     const Position &column,
                                     LaneValues carried) {
  std::vector<Scope> scopes(2 * rows.size(), Scope(builder));
  SmallVector<Position> positions;
  func::FuncOp func = kernel.func;
  for (auto [i, row] : llvm::enumerate(rows)) {
    Position &position = positions.emplace_back(column);
    position.scopes[kRow] = &scopes[2 * i];
    position.scopes[kBoth] = &scopes[2 * i + 1];
    position.row = row;
    for (BlockArgument argument : func.getArguments())
      if (phase.reads.contains(argument) && kernel.domainOf(argument) == kBoth)
        body.element(argument, position);
  }
  for (const Position &position : positions)
    evaluateStep(phase, position);
  for (const Position &position : positions)
    carried = finishStep(phase, position, carried, Value());
  return carried;
}

} // namespace tessera
