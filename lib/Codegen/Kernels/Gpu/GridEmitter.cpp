//===- GridEmitter.cpp - a CUDA kernel from a kernel ----------------------===//

#include "lib/Codegen/Kernels/Gpu/GridEmitter.h"
#include "lib/Codegen/Kernels/VectorMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tessera {

/// One dynamic array for the whole module: every kernel has its own size.
static constexpr const char *kSharedName = "tsr_shared";
static constexpr unsigned kSharedSpace = 3;

GridEmitter::GridEmitter(const Kernel &kernel, GridPart part, bool hasLibm)
    : KernelEmitter(kernel), part(std::move(part)), hasLibm(hasLibm) {
  body.alignVectors = true;
}

/// Instructions exist for these; other functions of f64 need libm.
static bool isInstruction(Operation *op) {
  return isa<math::AbsFOp, math::CopySignOp, math::FmaOp, math::SqrtOp>(op);
}

LogicalResult GridEmitter::check() {
  func::FuncOp func = kernel.func;
  Operation *missing = nullptr;
  func.walk([&](Operation *op) {
    bool isFunction = isa<math::MathDialect>(op->getDialect());
    if (isFunction && op->getResult(0).getType().isF64() && !isInstruction(op))
      missing = op;
  });
  if (missing && !hasLibm)
    return missing->emitError()
           << "computes a function in f64, which PTX does not have; use f32 or "
              "bf16, or the CPU";
  for (const Phase &phase : schedule.phases)
    for (const Reduction &reduction : phase.reductions) {
      Type type = getElementTypeOrSelf(reduction.result().getType());
      if (!type.isF32() && !type.isF64() && !type.isInteger(32))
        return reduction.op->emitError()
               << "reduces " << type << "; CUDA code reduces f32, f64 and i32";
    }
  return success();
}

LogicalResult GridEmitter::emit() {
  if (failed(check()))
    return failure();
  bindArguments();
  emitContent();
  OpBuilder builder(function.getBody().back().getTerminator());
  Value index = arith::AddIOp::create(
      builder, loc,
      arith::MulIOp::create(builder, loc, block,
                            constantI64(builder, loc, grid.threads)),
      thread);
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        index, constantI64(builder, loc, 0));
  uniform.builder = guard(builder, isFirst);
  Position position;
  position.scopes[kNone] = &uniform;
  if (part.stage != Stage::Partial)
    storeResults(kNone, position);
  function->setAttr(
      NVVM::NVVMDialect::getMaxntidAttrName(),
      builder.getDenseI32ArrayAttr({static_cast<int32_t>(grid.threads)}));
  // Says that one block of a multiprocessor is enough: with its own estimate
  // ptxas spills a few registers for an occupancy that nobody asked for.
  bool asksForFour =
      part.stage == Stage::Partial && part.slices.residentBlocks == 4;
  function->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                    builder.getI32IntegerAttr(asksForFour ? 4 : 1));
  return success();
}

void GridEmitter::bindArguments() {
  func::FuncOp func = kernel.func;
  MLIRContext *context = func.getContext();
  auto isBuffer = [](Type type) { return isa<TensorType>(type); };
  size_t buffers =
      llvm::count_if(func.getArgumentTypes(), isBuffer) + kernel.results.size();
  Type pointer = LLVM::LLVMPointerType::get(context);
  createFunction(part.name, SmallVector<Type>(buffers + 2, pointer));
  function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(),
                    UnitAttr::get(context));
  OpBuilder &builder = uniform.builder;
  Type i64 = builder.getI64Type();
  Value scalars = function.getArgument(buffers);
  workspace = function.getArgument(buffers + 1);
  unsigned next = 0;
  int64_t nextScalar = 0;
  for (BlockArgument argument : func.getArguments()) {
    if (isBuffer(argument.getType())) {
      body.buffers[argument] = function.getArgument(next++);
      continue;
    }
    Value at = advance(builder, loc, scalars, i64,
                       constantI64(builder, loc, nextScalar++));
    uniform.values[argument] =
        LLVM::LoadOp::create(builder, loc, i64, at, /*alignment=*/8);
  }
  for (Value result : kernel.results) {
    resultBuffers.push_back(function.getArgument(next++));
    body.buffers.try_emplace(result, resultBuffers.back());
  }
  auto coordinate = [&](Operation *op) -> Value {
    return arith::ExtUIOp::create(builder, loc, i64, op->getResult(0));
  };
  Type i32 = builder.getI32Type();
  thread = coordinate(NVVM::ThreadIdXOp::create(builder, loc, i32));
  block = coordinate(NVVM::BlockIdXOp::create(builder, loc, i32));
  Value size = constantI64(builder, loc, kWarp);
  warp = arith::DivUIOp::create(builder, loc, thread, size);
  lane = arith::RemUIOp::create(builder, loc, thread, size);
}

int64_t GridEmitter::reserveShared(int64_t bytes) {
  int64_t offset = grid.sharedBytes;
  grid.sharedBytes += llvm::alignTo(bytes, 16);
  return offset;
}

Value GridEmitter::sharedPointer(OpBuilder &builder, Value offset) {
  auto module = function->getParentOfType<ModuleOp>();
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

OpBuilder GridEmitter::guard(OpBuilder &builder, Value condition) {
  return scf::IfOp::create(builder, loc, condition, /*withElse=*/false)
      .getThenBodyBuilder();
}

Value GridEmitter::constantTrue(OpBuilder &builder) {
  return arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true));
}

void GridEmitter::leaveToUniform(const Scope &inside) {
  OpBuilder builder = inside.builder;
  uniform.builder.setInsertionPoint(builder.getInsertionBlock()->getParentOp());
}

/// One vector per thread.
void GridEmitter::emitFlat() {
  bool isPlane = llvm::any_of(kernel.results, [&](Value result) {
    return kernel.domainOf(result) == kBoth;
  });
  int64_t size = isPlane                ? kernel.rows * kernel.cols
                 : kernel.outer == kCol ? kernel.cols
                                        : kernel.rows;
  lanes = lanesOfPlanes(kernel, size);
  constexpr int64_t threads = 256;
  grid.threads = threads;
  grid.blocks = llvm::divideCeil(size / lanes, threads);
  OpBuilder &builder = uniform.builder;
  Value blockStart = arith::MulIOp::create(builder, loc, block,
                                           constantI64(builder, loc, threads));
  Value vector = arith::AddIOp::create(builder, loc, blockStart, thread);
  Value start = arith::MulIOp::create(builder, loc, vector,
                                      constantI64(builder, loc, lanes));
  Value exists = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                       start, constantI64(builder, loc, size));
  Scope scope(guard(builder, exists));
  leaveToUniform(scope);
  // Both coordinates are the linear index.
  Position position{
      {&uniform, &scope, &scope, &scope}, start, start, lanes, Value()};
  emitStep(schedule.phases.front(), position, {}, Value());
}

} // namespace tessera
