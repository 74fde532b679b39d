//===- GridColumns.cpp - the column schedule on a grid --------------------===//
// A block has 32 columns, a column per lane, and shares the rows among its
// warps; their sums meet in shared memory and are added in order of the warps.
//===----------------------------------------------------------------------===//

#include "Accumulators.h"
#include "GridEmitter.h"
#include "VectorMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tessera {

void GridEmitter::emitColumns() {
  // With more, a thread has too few registers for long bodies.
  constexpr int64_t maxWarps = 16;
  int64_t warps =
      std::clamp<int64_t>(llvm::PowerOf2Ceil(kernel.rows / 8), 1, maxWarps);
  grid.threads = warps * kWarp;
  grid.blocks = llvm::divideCeil(kernel.cols, kWarp);
  OpBuilder &builder = uniform.builder;
  Value first = arith::MulIOp::create(builder, loc, block,
                                      constantI64(builder, loc, kWarp));
  Value column = arith::AddIOp::create(builder, loc, first, lane);
  // Without a rest the condition is a constant and folds away.
  Value active = kernel.cols % kWarp == 0
                     ? constantTrue(builder)
                     : arith::CmpIOp::create(
                           builder, loc, arith::CmpIPredicate::slt, column,
                           constantI64(builder, loc, kernel.cols))
                           .getResult();
  // A lane without a column reads the first one, and stores nothing.
  column = arith::SelectOp::create(builder, loc, active, column,
                                   constantI64(builder, loc, 0));
  Scope scope(guard(builder, constantTrue(builder)));
  leaveToUniform(scope);
  Position position{
      {&uniform, nullptr, &scope, nullptr}, {}, column, lanes, Value()};
  for (const Phase &phase : schedule.phases) {
    for (linalg::GenericOp op : phase.before)
      body.emitGeneric(op, position);
    if (phase.hasLoop())
      emitColumnLoop(phase, position, active);
  }
  OpBuilder &last = scope.builder;
  // A result may lie over an argument that another warp still reads.
  NVVM::Barrier0Op::create(last, loc);
  Value isFirst = arith::CmpIOp::create(last, loc, arith::CmpIPredicate::eq,
                                        warp, constantI64(last, loc, 0));
  scope.builder =
      guard(last, arith::AndIOp::create(last, loc, isFirst, active));
  storeResults(kCol, position);
}

void GridEmitter::emitColumnLoop(const Phase &phase, Position column,
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
  auto loop =
      scf::ForOp::create(then, loc, warp, constantI64(then, loc, kernel.rows),
                         constantI64(then, loc, grid.threads / kWarp), start);
  OpBuilder inside = OpBuilder::atBlockBegin(loop.getBody());
  Scope rowScope(inside), laneScope(inside);
  Position position = column;
  position.scopes[kRow] = &rowScope;
  position.scopes[kBoth] = &laneScope;
  position.row = loop.getInductionVar();
  LaneValues sums =
      emitStep(phase, position, loop.getRegionIterArgs(), Value());
  if (!sums.empty()) {
    scf::YieldOp::create(laneScope.builder, loc, sums);
    scf::YieldOp::create(then, loc, loop.getResults());
  }

  scope.builder = builder;
  for (auto [reduction, sum] :
       llvm::zip(phase.reductions, branch.getResults())) {
    Value all = combineWarps(scope.builder, reduction, sum);
    scope.values[reduction.result()] = withInit(reduction, all, column);
  }
}

} // namespace tessera
