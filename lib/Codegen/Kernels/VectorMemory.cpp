//===- VectorMemory.cpp - loads and stores of lanes -----------------------===//

#include "lib/Codegen/Kernels/VectorMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace tessera {

static unsigned bytesOf(Type element) {
  return element.getIntOrFloatBitWidth() / 8;
}

Value advance(OpBuilder &builder, Location loc, Value pointer, Type element,
              Value offset) {
  return LLVM::GEPOp::create(builder, loc, pointer.getType(), element, pointer,
                             ValueRange{offset},
                             LLVM::GEPNoWrapFlags::inbounds);
}

Value loadScalar(OpBuilder &builder, Location loc, Value pointer,
                 Type element) {
  return LLVM::LoadOp::create(builder, loc, element, pointer, bytesOf(element));
}

static Value zeroLanes(OpBuilder &builder, Location loc, VectorType type) {
  return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
}

/// bf16 moves as i16: where the processor has no bf16, LLVM would turn masked
/// accesses into conversions by functions that no library has.
static VectorType storedAs(VectorType type) {
  return type.getElementType().isBF16()
             ? type.clone(IntegerType::get(type.getContext(), 16))
             : type;
}

static Value bitcastTo(OpBuilder &builder, Location loc, Type type,
                       Value value) {
  return value.getType() == type
             ? value
             : LLVM::BitcastOp::create(builder, loc, type, value);
}

Value loadLanes(OpBuilder &builder, Location loc, Value pointer,
                VectorType type, Value mask, unsigned alignment) {
  alignment = std::max(alignment, bytesOf(type.getElementType()));
  VectorType stored = storedAs(type);
  Value value;
  if (mask)
    value =
        LLVM::MaskedLoadOp::create(builder, loc, stored, pointer, mask,
                                   zeroLanes(builder, loc, stored), alignment);
  else
    value = LLVM::LoadOp::create(builder, loc, stored, pointer, alignment);
  return bitcastTo(builder, loc, type, value);
}

Value gatherLanes(OpBuilder &builder, Location loc, Value pointer,
                  Value offsets, VectorType type, Value mask) {
  VectorType stored = storedAs(type);
  Type element = stored.getElementType();
  if (!mask)
    mask = arith::ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(type.clone(builder.getI1Type()), true));
  auto pointers = type.clone(pointer.getType());
  Value addresses = LLVM::GEPOp::create(builder, loc, pointers, element,
                                        pointer, ValueRange{offsets});
  Value value = LLVM::masked_gather::create(
      builder, loc, stored, addresses, mask,
      ValueRange{zeroLanes(builder, loc, stored)}, bytesOf(element));
  return bitcastTo(builder, loc, type, value);
}

void store(OpBuilder &builder, Location loc, Value value, Value pointer,
           Value mask, unsigned alignment) {
  alignment =
      std::max(alignment, bytesOf(getElementTypeOrSelf(value.getType())));
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    value = bitcastTo(builder, loc, storedAs(vector), value);
  if (mask)
    LLVM::MaskedStoreOp::create(builder, loc, value, pointer, mask, alignment);
  else
    LLVM::StoreOp::create(builder, loc, value, pointer, alignment);
}

Value laneNumbers(OpBuilder &builder, Location loc, VectorType type) {
  SmallVector<Attribute> numbers;
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    numbers.push_back(builder.getIntegerAttr(type.getElementType(), i));
  return arith::ConstantOp::create(builder, loc,
                                   DenseElementsAttr::get(type, numbers));
}

Value constantI32(OpBuilder &builder, Location loc, int32_t value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getI32IntegerAttr(value));
}

Value constantI64(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getI64IntegerAttr(value));
}

} // namespace tessera
