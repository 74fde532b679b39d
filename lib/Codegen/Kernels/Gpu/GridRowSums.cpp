//===- GridRowSums.cpp - rows, and sums along columns over all of them ----===//
// Blocks take rows in turn; there are as many as run at the same time. A thread
// has the same columns in every row, so that it reduces along them in
// registers. Each block leaves a line in the workspace for the second kernel.
//===----------------------------------------------------------------------===//

#include "lib/Codegen/Kernels/Accumulators.h"
#include "lib/Codegen/Kernels/Gpu/GridEmitter.h"
#include "lib/Codegen/Kernels/VectorMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tessera {

GridEmitter::Steps GridEmitter::stepsOfRow() {
  OpBuilder &builder = uniform.builder;
  Value own = arith::MulIOp::create(builder, loc, member(),
                                    constantI64(builder, loc, lanes));
  Steps steps;
  int64_t stride = groupThreads * lanes;
  for (int64_t start = 0; start < kernel.cols; start += stride) {
    Value column = arith::AddIOp::create(builder, loc, own,
                                         constantI64(builder, loc, start));
    Value exists = start + stride <= kernel.cols
                       ? constantTrue(builder)
                       : arith::CmpIOp::create(
                             builder, loc, arith::CmpIPredicate::slt, column,
                             constantI64(builder, loc, kernel.cols))
                             .getResult();
    steps.push_back({column, exists});
  }
  return steps;
}

void GridEmitter::emitSharedRows() {
  const RowSlices &slices = part.slices;
  lanes = slices.lanes;
  grid.threads = slices.threads;
  grid.blocks = slices.count;
  groupThreads = slices.threads / slices.groups;
  OpBuilder &builder = uniform.builder;
  Value groups = constantI64(builder, loc, slices.groups);
  Value group = slices.groups > 1 ? warp : constantI64(builder, loc, 0);
  allocateScratch(builder, group);
  Steps steps = stepsOfRow();
  Value first = arith::AddIOp::create(
      builder, loc, arith::MulIOp::create(builder, loc, block, groups), group);
  LaneValues start;
  for (const LoopPhase &phase : loops.phases)
    for (size_t i = 0; i < steps.size(); ++i)
      llvm::append_range(start,
                         identities(phase.columnReductions, lanes, builder));
  auto loop = scf::ForOp::create(
      builder, loc, first, constantI64(builder, loc, kernel.rows),
      constantI64(builder, loc, slices.count * slices.groups), start);
  builder.setInsertionPoint(loop);
  OpBuilder inside = OpBuilder::atBlockBegin(loop.getBody());
  LaneValues sums = emitSharedRow(inside, loop.getInductionVar(), steps,
                                  loop.getRegionIterArgs());
  inside.setInsertionPointToEnd(loop.getBody());
  scf::YieldOp::create(inside, loc, sums);
  inside.setInsertionPointAfter(loop);
  storeColumnSums(inside, steps, loop.getResults());
}

LaneValues GridEmitter::emitSharedRow(OpBuilder builder, Value row,
                                      const Steps &steps, ValueRange carried) {
  Scope rowScope(builder);
  Position position{{&uniform, &rowScope, nullptr, nullptr}, row};
  LaneValues updated;
  for (const LoopPhase &phase : loops.phases) {
    for (linalg::GenericOp op : phase.before)
      body.emitGeneric(op, position);
    SmallVector<LaneValues> sums;
    for (size_t i = 0; i < steps.size(); ++i) {
      size_t count = phase.columnReductions.size();
      sums.emplace_back(carried.take_front(count));
      carried = carried.drop_front(count);
    }
    if (phase.hasLoop())
      emitRowSteps(phase, rowScope, row, steps, sums);
    for (const LaneValues &ofStep : sums)
      llvm::append_range(updated, ofStep);
  }
  finishRow(rowScope, row);
  return updated;
}

void GridEmitter::emitRowSteps(const LoopPhase &phase, Scope &rowScope,
                               Value row, const Steps &steps,
                               MutableArrayRef<LaneValues> sums) {
  OpBuilder builder = rowScope.builder;
  LaneValues own = identities(phase.reductions, lanes, builder);
  for (auto [step, ofStep] : llvm::zip(steps, sums)) {
    auto [column, exists] = step;
    LaneValues start(own);
    llvm::append_range(start, ofStep);
    SmallVector<Type> types(ValueRange(start).getTypes());
    auto branch = scf::IfOp::create(builder, loc, types, exists,
                                    /*withElse=*/!start.empty());
    rowScope.builder.setInsertionPoint(branch);
    Scope laneScope(OpBuilder::atBlockBegin(branch.thenBlock()));
    LaneValues updated = emitStep(
        phase,
        {{&uniform, &rowScope, &laneScope, &laneScope}, row, column, lanes},
        start, Value());
    if (!start.empty()) {
      OpBuilder otherwise = OpBuilder::atBlockBegin(branch.elseBlock());
      scf::YieldOp::create(otherwise, loc, start);
      scf::YieldOp::create(laneScope.builder, loc, updated);
    }
    ValueRange results = branch.getResults();
    own = LaneValues(results.take_front(own.size()));
    ofStep = LaneValues(results.drop_front(own.size()));
  }
  rowScope.builder = builder;
  finishReductions(phase, rowScope, row, own);
}

void GridEmitter::storeColumnSums(OpBuilder &builder, const Steps &steps,
                                  ValueRange sums) {
  WarpGroup warps{part.slices.groups, warp, lane, shared};
  unsigned number = 0;
  for (const LoopPhase &phase : loops.phases) {
    for (auto [column, exists] : steps)
      for (auto [i, reduction] : llvm::enumerate(phase.columnReductions)) {
        Type element = getElementTypeOrSelf(reduction.result().getType());
        unsigned alignment = body.alignmentOf(element, lanes);
        Value sum = combineWarps(builder, loc, reduction, sums.front(), warps,
                                 alignment);
        sums = sums.drop_front();
        OpBuilder storing =
            guard(builder,
                  part.slices.groups > 1 ? isStoring(builder, exists) : exists);
        store(storing, loc, sum,
              partialSum(storing, number + i, element, block, column), Value(),
              alignment);
      }
    number += phase.columnReductions.size();
  }
}

} // namespace tessera
