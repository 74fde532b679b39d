//===- ColumnEmission.cpp - the column schedule ---------------------------===//
// for each block of columns: for each phase: values of the columns, then a loop
// over all rows in order; then the results per column.
//===----------------------------------------------------------------------===//

#include "Accumulators.h"
#include "KernelEmitter.h"
#include "VectorMemory.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tessera {

void KernelEmitter::emitColumns() {
  unsigned unroll = 4;
  for (const Phase &phase : schedule.phases)
    unroll = std::min(unroll, unrollOf(phase));
  auto emitBlock = [&](OpBuilder &inside, const LaneBlock &block, ValueRange) {
    uniform.builder.setInsertionPoint(block.enclosing);
    emitColumnBlock(block, inside);
    return SmallVector<Value>();
  };
  OpBuilder walkBuilder = uniform.builder;
  LaneWalk walk(loc, lanes, unroll, emitBlock);
  walk.emit(walkBuilder, LaneRange{begin, end, std::nullopt}, {});
  uniform.builder.setInsertionPoint(function.getBody().back().getTerminator());
}

void KernelEmitter::emitColumnBlock(const LaneBlock &block,
                                    OpBuilder &builder) {
  std::vector<Scope> columns(block.starts.size(), Scope(builder));
  auto position = [&](unsigned i) {
    return Position{{&uniform, nullptr, &columns[i], nullptr},
                    {},
                    block.starts[i],
                    block.mask};
  };
  for (const Phase &phase : schedule.phases) {
    for (unsigned i = 0; i < columns.size(); ++i)
      for (linalg::GenericOp op : phase.before)
        body.emitGeneric(op, position(i));
    if (phase.hasLoop())
      emitColumnLoop(phase, block, columns);
  }
  for (unsigned i = 0; i < columns.size(); ++i)
    storeResults(kCol, position(i));
}

void KernelEmitter::emitColumnLoop(const Phase &phase, const LaneBlock &block,
                                   MutableArrayRef<Scope> columns) {
  unsigned vectors = columns.size();
  OpBuilder builder = columns.front().builder;
  Value zero = constantI64(builder, loc, 0);
  Value rows = constantI64(builder, loc, kernel.rows);
  Value one = constantI64(builder, loc, 1);
  auto loop = scf::ForOp::create(builder, loc, zero, rows, one,
                                 identities(phase, vectors, builder));
  for (Scope &column : columns)
    column.builder.setInsertionPoint(loop);
  OpBuilder inside = phase.reductions.empty()
                         ? OpBuilder(loop.getBody()->getTerminator())
                         : OpBuilder::atBlockEnd(loop.getBody());
  SmallVector<Value> sums =
      emitColumnStep(phase, block, columns, inside, loop.getInductionVar(),
                     loop.getRegionIterArgs());
  if (!sums.empty())
    scf::YieldOp::create(inside, loc, sums);

  for (unsigned i = 0; i < vectors; ++i) {
    columns[i].builder.setInsertionPointAfter(loop);
    Position position{{&uniform, nullptr, &columns[i], nullptr},
                      {},
                      block.starts[i],
                      block.mask};
    for (auto [r, reduction] : llvm::enumerate(phase.reductions))
      columns[i].values[reduction.result()] =
          withInit(reduction, loop.getResult(r * vectors + i), position);
  }
}

SmallVector<Value> KernelEmitter::emitColumnStep(const Phase &phase,
                                                 const LaneBlock &block,
                                                 MutableArrayRef<Scope> columns,
                                                 OpBuilder &builder, Value row,
                                                 ValueRange carried) {
  unsigned vectors = columns.size();
  SmallVector<Value> result(carried);
  Scope rowScope(builder);
  for (unsigned i = 0; i < vectors; ++i) {
    Scope lane(builder);
    Position position{{&uniform, &rowScope, &columns[i], &lane},
                      row,
                      block.starts[i],
                      block.mask};
    emitStep(phase, position);
    // Lanes outside the mask are never stored, so they may hold anything.
    for (unsigned r = 0; r < phase.reductions.size(); ++r) {
      Value &sum = result[r * vectors + i];
      sum = updated(phase.reductions[r], sum, position, Value());
    }
  }
  return result;
}

} // namespace tessera
