//===- LoopColumns.cpp - the column schedule ------------------------------===//
// for each block of columns: for each phase: values of the columns, then a loop
// over all rows in order; then the results per column.
//===----------------------------------------------------------------------===//

#include "lib/Codegen/Kernels/Accumulators.h"
#include "lib/Codegen/Kernels/Cpu/LoopEmitter.h"
#include "lib/Codegen/Kernels/VectorMemory.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tessera {

void LoopEmitter::emitColumns() {
  // Wide blocks read long pieces of a row; half of the registers accumulate.
  unsigned unroll = 8;
  for (const Phase &phase : schedule.phases) {
    bool isCheap = stepCost(phase.inner) <= 12;
    unroll = std::min(unroll, isCheap ? 8 : unrollOf(phase));
    while (unroll > 1 && unroll * phase.reductions.size() > registers / 2)
      unroll /= 2;
  }
  auto emitBlock = [&](OpBuilder &inside, const LaneBlock &block) {
    uniform.builder.setInsertionPoint(block.enclosing);
    emitColumnBlock(block, inside);
  };
  walkLanes(uniform.builder, LaneRange{begin, end, std::nullopt}, unroll,
            emitBlock);
  uniform.builder.setInsertionPoint(function.getBody().back().getTerminator());
}

void LoopEmitter::emitColumnBlock(const LaneBlock &block, OpBuilder &builder) {
  Scope column(builder);
  Position position{{&uniform, nullptr, &column, nullptr},
                    {},
                    block.start,
                    block.lanes,
                    block.mask};
  for (const Phase &phase : schedule.phases) {
    for (linalg::GenericOp op : phase.before)
      body.emitGeneric(op, position);
    if (phase.hasLoop())
      emitColumnLoop(phase, position);
  }
  storeResults(kCol, position);
}

void LoopEmitter::emitColumnLoop(const Phase &phase, Position column) {
  Scope &scope = column.scope(kCol);
  OpBuilder builder = scope.builder;
  auto loop = scf::ForOp::create(builder, loc, constantI64(builder, loc, 0),
                                 constantI64(builder, loc, kernel.rows),
                                 constantI64(builder, loc, 1),
                                 identities(phase, column.lanes, builder));
  scope.builder.setInsertionPoint(loop);
  OpBuilder inside = OpBuilder::atBlockBegin(loop.getBody());
  Scope rowScope(inside), lane(inside);
  Position position = column;
  position.scopes[kRow] = &rowScope;
  position.scopes[kBoth] = &lane;
  position.row = loop.getInductionVar();
  // Lanes outside the mask are never stored, so they may hold anything.
  LaneValues sums =
      emitStep(phase, position, loop.getRegionIterArgs(), Value());
  if (!sums.empty())
    scf::YieldOp::create(inside, loc, sums);

  scope.builder.setInsertionPointAfter(loop);
  for (auto [reduction, sum] : llvm::zip(phase.reductions, loop.getResults()))
    scope.values[reduction.result()] = withInit(reduction, sum, column);
}

} // namespace tessera
