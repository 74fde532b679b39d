//===- GridReductions.cpp - reductions over threads -----------------------===//

#include "lib/Codegen/Kernels/Gpu/GridReductions.h"
#include "lib/Codegen/Kernels/Accumulators.h"
#include "lib/Codegen/Kernels/Gpu/GridShape.h"
#include "lib/Codegen/Kernels/VectorMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace tessera {

/// One dynamic array for the whole module: every kernel has its own size.
static constexpr const char *kSharedName = "tsr_shared";
static constexpr unsigned kSharedSpace = 3;

int64_t SharedMemory::reserve(int64_t bytes) {
  int64_t offset = size;
  size += llvm::alignTo(bytes, 16);
  return offset;
}

Value SharedMemory::pointer(OpBuilder &builder, Location loc, Value offset) {
  auto module =
      builder.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  if (!module.lookupSymbol(kSharedName)) {
    OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
    LLVM::GlobalOp::create(
        top, loc, LLVM::LLVMArrayType::get(builder.getI8Type(), 0),
        /*isConstant=*/false, LLVM::Linkage::External, kSharedName, Attribute(),
        /*alignment=*/16, kSharedSpace);
  }
  auto space = LLVM::LLVMPointerType::get(builder.getContext(), kSharedSpace);
  Value base = LLVM::AddressOfOp::create(builder, loc, space, kSharedName);
  Value generic = LLVM::AddrSpaceCastOp::create(
      builder, loc, LLVM::LLVMPointerType::get(builder.getContext()), base);
  return advance(builder, loc, generic, builder.getI8Type(), offset);
}

static int64_t bytesOf(Type type) { return type.getIntOrFloatBitWidth() / 8; }

/// Returns the value of lane (own ^ mask); f64 goes in halves.
static Value shuffle(OpBuilder &builder, Location loc, Value value,
                     int32_t mask) {
  if (value.getType().isF64()) {
    Type i32 = builder.getI32Type();
    auto single = VectorType::get({1}, value.getType());
    Value halves = vector::BitCastOp::create(
        builder, loc, VectorType::get({2}, i32),
        vector::BroadcastOp::create(builder, loc, single, value));
    Value all = halves;
    for (int64_t i : {0, 1}) {
      Value half = vector::ExtractOp::create(builder, loc, halves, i);
      half = shuffle(builder, loc, half, mask);
      all = vector::InsertOp::create(builder, loc, half, all, i);
    }
    Value whole = vector::BitCastOp::create(builder, loc, single, all);
    return vector::ExtractOp::create(builder, loc, whole, int64_t(0));
  }
  Value everyLane = constantI32(builder, loc, -1);
  Value clamp = constantI32(builder, loc, kWarp - 1);
  return NVVM::ShflOp::create(builder, loc, value.getType(), everyLane, value,
                              constantI32(builder, loc, mask), clamp,
                              NVVM::ShflKind::bfly, UnitAttr());
}

/// Returns the combination of all lanes of a warp, in every one of them: a
/// butterfly of five steps.
static Value combineWarp(OpBuilder &builder, Location loc,
                         const Reduction &reduction, Value value) {
  for (int32_t distance = kWarp / 2; distance > 0; distance /= 2) {
    Value other = shuffle(builder, loc, value, distance);
    value = combine(builder, loc, reduction, value, other);
  }
  return value;
}

Value combineGroup(OpBuilder &builder, Location loc, const Reduction &reduction,
                   Value value, const WarpGroup &group) {
  value = combineWarp(builder, loc, reduction, value);
  if (group.warps == 1)
    return value;
  // A block uses each slot once, so one barrier is enough.
  Type type = value.getType();
  int64_t offset = group.memory.reserve(bytesOf(type) * kWarp);
  Value slots =
      group.memory.pointer(builder, loc, constantI64(builder, loc, offset));
  Value isFirst =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, group.lane,
                            constantI64(builder, loc, 0));
  OpBuilder leader =
      scf::IfOp::create(builder, loc, isFirst, /*withElse=*/false)
          .getThenBodyBuilder();
  store(leader, loc, value, advance(leader, loc, slots, type, group.warp),
        Value());
  NVVM::Barrier0Op::create(builder, loc);
  Value exists =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, group.lane,
                            constantI64(builder, loc, group.warps));
  Value stored = loadScalar(
      builder, loc, advance(builder, loc, slots, type, group.lane), type);
  Value part = arith::SelectOp::create(
      builder, loc, exists, stored, identityOf(builder, loc, reduction, type));
  return combineWarp(builder, loc, reduction, part);
}

Value combineWarps(OpBuilder &builder, Location loc, const Reduction &reduction,
                   Value value, const WarpGroup &group, unsigned alignment) {
  if (group.warps == 1)
    return value;
  auto vector = cast<VectorType>(value.getType());
  Type element = vector.getElementType();
  int64_t row = kWarp * vector.getNumElements();
  int64_t reserved = group.memory.reserve(bytesOf(element) * row * group.warps);
  Value slots =
      group.memory.pointer(builder, loc, constantI64(builder, loc, reserved));
  Value own =
      arith::MulIOp::create(builder, loc, group.lane,
                            constantI64(builder, loc, vector.getNumElements()));
  slots = advance(builder, loc, slots, element, own);
  Value offset = arith::MulIOp::create(builder, loc, group.warp,
                                       constantI64(builder, loc, row));
  store(builder, loc, value, advance(builder, loc, slots, element, offset),
        Value(), alignment);
  NVVM::Barrier0Op::create(builder, loc);
  Value sum;
  for (int64_t i = 0; i < group.warps; ++i) {
    Value at = advance(builder, loc, slots, element,
                       constantI64(builder, loc, i * row));
    Value part = loadLanes(builder, loc, at, vector, Value(), alignment);
    sum = sum ? combine(builder, loc, reduction, sum, part) : part;
  }
  return sum;
}

} // namespace tessera
