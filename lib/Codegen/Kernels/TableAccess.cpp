//===- TableAccess.cpp - tensor.extract from an argument ------------------===//
// One scalar, one run of lanes, or a gather, by what the indices vary over.
//===----------------------------------------------------------------------===//

#include "lib/Codegen/Kernels/BodyEmitter.h"
#include "lib/Codegen/Kernels/VectorMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tessera {

bool BodyEmitter::isLaneIndex(Value index) const {
  auto op = index.getDefiningOp<linalg::IndexOp>();
  return op && (kernel.varianceOf(op) & kernel.laneDims());
}

Value BodyEmitter::asI64(Value index, OpBuilder &builder) {
  Type type = builder.getI64Type();
  if (auto vector = dyn_cast<VectorType>(index.getType()))
    type = vector.clone(type);
  return arith::IndexCastOp::create(builder, loc, type, index);
}

/// Returns the pointer at `table[indices but the last, 0]`.
Value BodyEmitter::tableRow(tensor::ExtractOp op, const Position &position) {
  Value base = buffers.lookup(op.getTensor());
  if (op.getIndices().size() != 2)
    return base;
  Scope &scope = position.scope(kernel.varianceOf(op.getIndices()[0]));
  if (Value known = scope.pointers.lookup(op.getResult()))
    return known;
  OpBuilder &builder = scope.builder;
  Value row = asI64(lookup(op.getIndices()[0], position), builder);
  Value stride =
      constantI64(builder, loc, op.getTensor().getType().getDimSize(1));
  Value offset = arith::MulIOp::create(builder, loc, row, stride);
  Value pointer = advance(builder, loc, base, op.getType(), offset);
  scope.pointers[op.getResult()] = pointer;
  return pointer;
}

/// Offsets of the lanes from the start of the table.
Value BodyEmitter::tableOffsets(tensor::ExtractOp op,
                                const Position &position) {
  OpBuilder &builder = position.scope(kernel.varianceOf(op)).builder;
  Value offsets;
  for (auto [index, size] :
       llvm::zip(op.getIndices(), op.getTensor().getType().getShape())) {
    Value lane = asI64(
        lanesOf(lookup(index, position), builder, position.lanes), builder);
    if (offsets) {
      Value stride =
          lanesOf(constantI64(builder, loc, size), builder, position.lanes);
      offsets = arith::MulIOp::create(builder, loc, offsets, stride);
      lane = arith::AddIOp::create(builder, loc, offsets, lane);
    }
    offsets = lane;
  }
  return offsets;
}

void BodyEmitter::emitExtract(tensor::ExtractOp op, const Position &position) {
  Scope &scope = position.scope(kernel.varianceOf(op));
  OpBuilder &builder = scope.builder;
  OperandRange indices = op.getIndices();
  auto isUniform = [&](Value index) {
    return !isa<VectorType>(lookup(index, position).getType());
  };
  Value value;
  if (indices.empty()) {
    value =
        loadScalar(builder, loc, buffers.lookup(op.getTensor()), op.getType());
  } else if (llvm::all_of(indices, isUniform)) {
    Value row = tableRow(op, position);
    Value last = asI64(lookup(indices.back(), position), builder);
    value =
        loadScalar(builder, loc, advance(builder, loc, row, op.getType(), last),
                   op.getType());
  } else if (isLaneIndex(indices.back()) &&
             llvm::all_of(indices.drop_back(), isUniform)) {
    Value row = tableRow(op, position);
    Value lane = advance(builder, loc, row, op.getType(), position.column);
    bool isAligned =
        op.getTensor().getType().getShape().back() % position.lanes == 0;
    value =
        loadLanes(builder, loc, lane, vectorOf(op.getType(), position.lanes),
                  position.mask,
                  isAligned ? alignmentOf(op.getType(), position.lanes) : 0);
  } else {
    value = gatherLanes(builder, loc, buffers.lookup(op.getTensor()),
                        tableOffsets(op, position),
                        vectorOf(op.getType(), position.lanes), position.mask);
  }
  scope.values[op] = value;
}

} // namespace tessera
