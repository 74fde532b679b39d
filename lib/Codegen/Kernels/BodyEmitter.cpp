//===- BodyEmitter.cpp - bodies of generics as vector code ----------------===//

#include "lib/Codegen/Kernels/BodyEmitter.h"
#include "lib/Codegen/Kernels/VectorMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "tessera/Dialect/RT/RowLayout.h"

using namespace mlir;

namespace tessera {

Value BodyEmitter::lanesOf(Value value, OpBuilder &builder, unsigned lanes) {
  if (isa<VectorType>(value.getType()))
    return value;
  return vector::BroadcastOp::create(builder, loc,
                                     vectorOf(value.getType(), lanes), value);
}

Value BodyEmitter::lookup(Value scalar, const Position &position) {
  auto argument = dyn_cast<BlockArgument>(scalar);
  if (argument && isa<linalg::GenericOp>(argument.getOwner()->getParentOp())) {
    Value operand = tensorOf(argument);
    return isa<TensorType>(operand.getType()) ? element(operand, position)
                                              : lookup(operand, position);
  }
  return position.scope(kernel.varianceOf(scalar)).values.lookup(scalar);
}

Value BodyEmitter::splat(Value tensor, const Position &position) {
  Scope &scope = position.scope(kNone);
  if (Value filled = kernel.splatValue(tensor))
    return lookup(filled, position);
  Type type = cast<RankedTensorType>(tensor.getType()).getElementType();
  Attribute attr = kernel.splatAttr(tensor);
  if (!attr)
    attr = scope.builder.getZeroAttr(type);
  return arith::ConstantOp::create(scope.builder, loc, cast<TypedAttr>(attr));
}

Value BodyEmitter::element(Value tensor, const Position &position) {
  if (kernel.isSplat(tensor))
    return splat(tensor, position);
  Dims domain = kernel.domainOf(tensor);
  Value &known = position.scope(domain).values[tensor];
  if (!known)
    known = load(tensor, domain, position);
  return known;
}

Value BodyEmitter::address(Value tensor, Value base, Dims domain,
                           const Position &position) {
  Type type = cast<RankedTensorType>(tensor.getType()).getElementType();
  OpBuilder &builder = position.scope(domain).builder;
  if (domain == kNone)
    return base;
  if (domain != kBoth || kernel.traversal == Traversal::Flat)
    return advance(builder, loc, base, type,
                   domain == kCol ? position.column : position.row);
  Scope &rowScope = position.scope(kRow);
  Value &rowPointer = rowScope.pointers[base];
  if (!rowPointer) {
    Value stride =
        constantI64(rowScope.builder, loc,
                    rt::rowStrideOf(cast<RankedTensorType>(tensor.getType())));
    Value offset =
        arith::MulIOp::create(rowScope.builder, loc, position.row, stride);
    rowPointer = advance(rowScope.builder, loc, base, type, offset);
  }
  return advance(builder, loc, rowPointer, type, position.column);
}

unsigned BodyEmitter::alignmentOf(Type element, unsigned lanes) const {
  return alignVectors
             ? std::min(16u, lanes * element.getIntOrFloatBitWidth() / 8)
             : 0;
}

Value BodyEmitter::load(Value tensor, Dims domain, const Position &position) {
  Type type = cast<RankedTensorType>(tensor.getType()).getElementType();
  OpBuilder &builder = position.scope(domain).builder;
  Value row = scratch.lookup(tensor);
  Value pointer =
      row ? advance(builder, loc, row, type, position.column)
          : address(tensor, buffers.lookup(tensor), domain, position);
  if (domain & kernel.laneDims())
    return loadLanes(builder, loc, pointer, vectorOf(type, position.lanes),
                     position.mask, alignmentOf(type, position.lanes));
  return loadScalar(builder, loc, pointer, type);
}

void BodyEmitter::storeElement(Value tensor, Value base,
                               const Position &position) {
  Dims domain = kernel.domainOf(tensor);
  OpBuilder &builder = position.scope(domain).builder;
  Value value = element(tensor, position);
  bool isVector = domain & kernel.laneDims();
  store(builder, loc,
        isVector ? lanesOf(value, builder, position.lanes) : value,
        address(tensor, base, domain, position),
        isVector ? position.mask : Value(),
        isVector ? alignmentOf(getElementTypeOrSelf(tensor.getType()),
                               position.lanes)
                 : 0);
}

void BodyEmitter::storeScratch(Value tensor, const Position &position) {
  Type type = cast<RankedTensorType>(tensor.getType()).getElementType();
  OpBuilder &builder = position.scope(kBoth).builder;
  Value pointer =
      advance(builder, loc, scratch.lookup(tensor), type, position.column);
  store(builder, loc,
        lanesOf(element(tensor, position), builder, position.lanes), pointer,
        position.mask, alignmentOf(type, position.lanes));
}

void BodyEmitter::emitGeneric(linalg::GenericOp op, const Position &position) {
  bool isReduction = kernel.isReduction(op);
  for (Operation &body : op.getBody()->without_terminator()) {
    bool combines = isReduction && llvm::any_of(op->getResults(), [&](Value r) {
                      return kernel.reductionOf(r)->combiner == &body;
                    });
    if (!combines)
      emitOp(&body, position);
  }
  if (isReduction)
    return;
  Operation *yield = op.getBody()->getTerminator();
  Scope &scope = position.scope(kernel.domainOf(op));
  for (auto [result, yielded] :
       llvm::zip(op->getResults(), yield->getOperands())) {
    Value value = lookup(yielded, position);
    scope.values[result] = value;
  }
}

void BodyEmitter::emitOp(Operation *op, const Position &position) {
  Value result = op->getResult(0);
  Dims variance = kernel.varianceOf(result);
  if (position.scope(variance).values.contains(result))
    return;
  if (auto index = dyn_cast<linalg::IndexOp>(op))
    emitIndex(index, position);
  else if (auto extract = dyn_cast<tensor::ExtractOp>(op))
    emitExtract(extract, position);
  else
    emitElementwise(op, position);
}

void BodyEmitter::emitElementwise(Operation *op, const Position &position) {
  Scope &scope = position.scope(kernel.varianceOf(op->getResult(0)));
  OpBuilder &builder = scope.builder;
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(lookup(operand, position));
  bool isVector = llvm::any_of(operands, [](Value operand) {
    return isa<VectorType>(operand.getType());
  });
  IRMapping mapping;
  for (auto [from, to] : llvm::zip(op->getOperands(), operands))
    mapping.map(from, isVector ? lanesOf(to, builder, position.lanes) : to);
  Operation *clone = builder.clone(*op, mapping);
  for (auto [from, to] : llvm::zip(op->getResults(), clone->getResults())) {
    if (isVector)
      to.setType(vectorOf(from.getType(), position.lanes));
    scope.values[from] = to;
  }
}

void BodyEmitter::emitIndex(linalg::IndexOp op, const Position &position) {
  Dims dim = kernel.varianceOf(op);
  Scope &scope = position.scope(dim);
  OpBuilder &builder = scope.builder;
  Value value =
      arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                 dim == kCol ? position.column : position.row);
  if (dim & kernel.laneDims()) {
    VectorType type = vectorOf(builder.getIndexType(), position.lanes);
    value = arith::AddIOp::create(builder, loc,
                                  lanesOf(value, builder, position.lanes),
                                  laneNumbers(builder, loc, type));
  }
  scope.values[op] = value;
}

} // namespace tessera
