//===- LoopRows.cpp - the row schedule ------------------------------------===//
// for each row: for each phase: scalars of the row, then one walk over its
// columns; then the results per row.
//===----------------------------------------------------------------------===//

#include "lib/Codegen/Kernels/Accumulators.h"
#include "lib/Codegen/Kernels/Cpu/LoopEmitter.h"
#include "lib/Codegen/Kernels/VectorMemory.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tessera {

void LoopEmitter::emitRows() {
  OpBuilder &builder = uniform.builder;
  Value one = constantI64(builder, loc, 1);
  auto loop = scf::ForOp::create(builder, loc, begin, end, one);
  uniform.builder.setInsertionPoint(loop);
  Scope rowScope(OpBuilder(loop.getBody()->getTerminator()));
  Value row = loop.getInductionVar();
  Position position{{&uniform, &rowScope, nullptr, nullptr}, row};
  for (const Phase &phase : schedule.phases) {
    for (linalg::GenericOp op : phase.before)
      body.emitGeneric(op, position);
    if (phase.hasLoop())
      emitRowLoop(phase, rowScope, row);
  }
  storeResults(kRow, position);
  uniform.builder.setInsertionPointAfter(loop);
}

void LoopEmitter::emitRowLoop(const Phase &phase, Scope &rowScope, Value row) {
  auto emitBlock = [&](OpBuilder &inside, const LaneBlock &block,
                       ValueRange carried) {
    return emitRowBlock(phase, rowScope, row, block, inside, carried);
  };
  auto initial = [&](OpBuilder &builder, unsigned count) {
    return identities(phase, count, builder);
  };
  auto combineTo = [&](OpBuilder &builder, ValueRange values, unsigned count) {
    LaneValues combined;
    for (auto [reduction, value] : llvm::zip(phase.reductions, values))
      combined.push_back(combineLanes(builder, loc, reduction, value, count));
    return combined;
  };
  auto narrow = [&](OpBuilder &builder, ValueRange wide) {
    return combineTo(builder, wide, lanes);
  };
  OpBuilder builder = rowScope.builder;
  LaneRange range{constantI64(builder, loc, 0), Value(), kernel.cols};
  LaneWalk walk(loc, lanes, unrollOf(phase), {emitBlock, initial, narrow});
  LaneValues sums = combineTo(builder, walk.emit(builder, range), 1);

  rowScope.builder = builder;
  Position position{{&uniform, &rowScope, nullptr, nullptr}, row};
  for (auto [reduction, sum] : llvm::zip(phase.reductions, sums))
    rowScope.values[reduction.result()] = withInit(reduction, sum, position);
}

LaneValues LoopEmitter::emitRowBlock(const Phase &phase, Scope &rowScope,
                                     Value row, const LaneBlock &block,
                                     OpBuilder &builder, ValueRange carried) {
  // A masked rest has no loop around it: what is uniform comes just before.
  if (block.enclosing)
    rowScope.builder.setInsertionPoint(block.enclosing);
  else
    rowScope.builder = builder;
  Scope lane(builder);
  Position position{{&uniform, &rowScope, &lane, &lane},
                    row,
                    block.start,
                    block.lanes,
                    block.mask};
  return emitStep(phase, position, carried, block.mask);
}

} // namespace tessera
