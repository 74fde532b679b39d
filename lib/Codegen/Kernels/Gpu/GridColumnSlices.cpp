//===- GridColumnSlices.cpp - sums along columns in two kernels -----------===//
// The first adds the rows of each slice and leaves the sums in the workspace,
// [slices, columns] for each reduction; the second adds those in order of the
// slices and finishes the kernel.
//===----------------------------------------------------------------------===//

#include "lib/Codegen/Kernels/Accumulators.h"
#include "lib/Codegen/Kernels/Gpu/GridEmitter.h"
#include "lib/Codegen/Kernels/VectorMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tessera {

/// Neighbouring blocks have neighbouring columns of the same rows.
Value GridEmitter::tileOfBlock() {
  OpBuilder &builder = uniform.builder;
  if (part.stage != Stage::Partial)
    return block;
  Value tiles = constantI64(builder, loc, grid.blocks / part.slices.count);
  slice = arith::DivUIOp::create(builder, loc, block, tiles);
  return arith::RemUIOp::create(builder, loc, block, tiles);
}

static Type elementOf(const Reduction &reduction) {
  return getElementTypeOrSelf(reduction.result().getType());
}

Value GridEmitter::partialSum(OpBuilder &builder, const Phase &phase,
                              unsigned reduction, Value slice, Value column) {
  Value sums =
      advance(builder, loc, workspace, builder.getI8Type(),
              constantI64(builder, loc, part.slices.offsets[reduction]));
  Value row = arith::MulIOp::create(builder, loc, slice,
                                    constantI64(builder, loc, kernel.cols));
  return advance(builder, loc, sums, elementOf(phase.reductions[reduction]),
                 arith::AddIOp::create(builder, loc, row, column));
}

void GridEmitter::storePartialSums(const Phase &phase, const LaneValues &sums,
                                   const Position &column, Value active) {
  OpBuilder &last = column.scope(kCol).builder;
  OpBuilder builder = guard(last, isStoring(last, active));
  for (auto [i, sum] : llvm::enumerate(sums))
    store(builder, loc, sum,
          partialSum(builder, phase, i, slice, column.column), Value(),
          body.alignmentOf(elementOf(phase.reductions[i]), lanes));
}

LaneValues GridEmitter::addPartialSums(OpBuilder &builder, const Phase &phase,
                                       ArrayRef<Value> slices, Value column,
                                       LaneValues carried) {
  // Slices of a group are loaded together, and added in order.
  SmallVector<LaneValues> loaded;
  for (Value slice : slices) {
    LaneValues &parts = loaded.emplace_back();
    for (auto [i, reduction] : llvm::enumerate(phase.reductions))
      parts.push_back(
          loadLanes(builder, loc, partialSum(builder, phase, i, slice, column),
                    vectorOf(elementOf(reduction), lanes), Value()));
  }
  for (const LaneValues &parts : loaded)
    for (auto [reduction, sum, next] :
         llvm::zip(phase.reductions, carried, parts))
      sum = accumulate(builder, loc, reduction, sum, next, Value());
  return carried;
}

} // namespace tessera
