//===- RowEmission.cpp - the row schedule ---------------------------------===//
// for each row: for each phase: scalars of the row, then one walk over its
// columns; then the results per row.
//===----------------------------------------------------------------------===//

#include "Accumulators.h"
#include "KernelEmitter.h"
#include "VectorMemory.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tessera {

void KernelEmitter::emitRows() {
  OpBuilder &builder = uniform.builder;
  Value one = constantI64(builder, loc, 1);
  auto loop = scf::ForOp::create(builder, loc, begin, end, one);
  uniform.builder.setInsertionPoint(loop);
  Scope rowScope(OpBuilder(loop.getBody()->getTerminator()));
  Value row = loop.getInductionVar();
  Position position{{&uniform, &rowScope, nullptr, nullptr}, row, {}, {}};
  for (const Phase &phase : schedule.phases) {
    for (linalg::GenericOp op : phase.before)
      body.emitGeneric(op, position);
    if (phase.hasLoop())
      emitRowLoop(phase, rowScope, row);
  }
  storeResults(kRow, position);
  uniform.builder.setInsertionPointAfter(loop);
}

void KernelEmitter::emitRowLoop(const Phase &phase, Scope &rowScope,
                                Value row) {
  unsigned unroll = unrollOf(phase);
  OpBuilder walkBuilder = rowScope.builder;
  auto emitBlock = [&](OpBuilder &inside, const LaneBlock &block,
                       ValueRange carried) {
    return emitRowBlock(phase, rowScope, row, block, inside, carried);
  };
  LaneRange range{constantI64(walkBuilder, loc, 0), Value(), kernel.cols};
  LaneWalk walk(loc, lanes, unroll, emitBlock);
  SmallVector<Value> sums =
      walk.emit(walkBuilder, range, identities(phase, unroll, walkBuilder));

  Operation *end = rowScope.builder.getInsertionBlock()->getTerminator();
  rowScope.builder.setInsertionPoint(end);
  Position position{{&uniform, &rowScope, nullptr, nullptr}, row, {}, {}};
  for (auto [i, reduction] : llvm::enumerate(phase.reductions)) {
    SmallVector<Value> vectors(ArrayRef<Value>(sums).slice(i * unroll, unroll));
    Value sum = combineAll(rowScope.builder, loc, reduction, vectors);
    rowScope.values[reduction.result()] = withInit(reduction, sum, position);
  }
}

SmallVector<Value> KernelEmitter::emitRowBlock(const Phase &phase,
                                               Scope &rowScope, Value row,
                                               const LaneBlock &block,
                                               OpBuilder &builder,
                                               ValueRange carried) {
  // A masked rest has no loop around it: what is uniform comes just before.
  if (block.enclosing)
    rowScope.builder.setInsertionPoint(block.enclosing);
  else
    rowScope.builder = builder;
  unsigned vectors = block.starts.size();
  SmallVector<Value> result(carried);
  for (auto [i, start] : llvm::enumerate(block.starts)) {
    Scope lane(builder);
    Position position{
        {&uniform, &rowScope, &lane, &lane}, row, start, block.mask};
    emitStep(phase, position);
    for (unsigned r = 0; r < phase.reductions.size(); ++r) {
      Value &accumulator = result[r * vectors + i];
      accumulator =
          updated(phase.reductions[r], accumulator, position, block.mask);
    }
  }
  return result;
}

} // namespace tessera
