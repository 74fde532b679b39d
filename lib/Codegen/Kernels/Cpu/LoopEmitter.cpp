//===- LoopEmitter.cpp - an ABI function from a kernel --------------------===//

#include "lib/Codegen/Kernels/Cpu/LoopEmitter.h"
#include "lib/Codegen/Kernels/VectorMemory.h"
#include "tessera/Dialect/Dist/TypingRule.h"

using namespace mlir;

namespace tessera {

LoopEmitter::LoopEmitter(const Kernel &kernel, unsigned vectorBits)
    : KernelEmitter(kernel), lanes(vectorBits / widestFloat(kernel)),
      registers(vectorBits == 512 ? 32 : 16) {}

LLVM::LLVMFuncOp LoopEmitter::emit() {
  MLIRContext *context = func::FuncOp(kernel.func).getContext();
  Type pointer = LLVM::LLVMPointerType::get(context);
  Type i64 = IntegerType::get(context, 64);
  createFunction(func::FuncOp(kernel.func).getName(),
                 {pointer, pointer, i64, i64});
  begin = function.getArgument(2);
  end = function.getArgument(3);
  bindArguments();
  emitContent();
  Position position;
  position.scopes[kNone] = &uniform;
  storeResults(kNone, position);
  return function;
}

void LoopEmitter::bindArguments() {
  func::FuncOp func = kernel.func;
  OpBuilder &builder = uniform.builder;
  Value buffers = function.getArgument(0), scalars = function.getArgument(1);
  Type pointer = buffers.getType(), i64 = builder.getI64Type();
  int64_t nextBuffer = 0, nextScalar = 0;
  auto loadNext = [&](Value from, Type type, int64_t &next) {
    Value at =
        advance(builder, loc, from, type, constantI64(builder, loc, next++));
    return LLVM::LoadOp::create(builder, loc, type, at, 8).getResult();
  };
  for (BlockArgument argument : func.getArguments()) {
    if (isa<TensorType>(argument.getType()))
      body.buffers[argument] = loadNext(buffers, pointer, nextBuffer);
    else
      uniform.values[argument] = loadNext(scalars, i64, nextScalar);
  }
  for (Value result : kernel.results) {
    resultBuffers.push_back(loadNext(buffers, pointer, nextBuffer));
    body.buffers.try_emplace(result, resultBuffers.back());
  }
  allocateScratch();
}

void LoopEmitter::allocateScratch() {
  OpBuilder &builder = uniform.builder;
  for (const Phase &phase : schedule.phases)
    for (Value value : phase.spills) {
      Type element = cast<RankedTensorType>(value.getType()).getElementType();
      body.scratch[value] = LLVM::AllocaOp::create(
          builder, loc, function.getArgument(0).getType(), element,
          constantI64(builder, loc, kernel.cols), /*alignment=*/64);
    }
}

void LoopEmitter::walkLanes(
    OpBuilder builder, const LaneRange &range, unsigned unroll,
    llvm::function_ref<void(OpBuilder &, const LaneBlock &)> emitBlock) {
  auto emitBody = [&](OpBuilder &inside, const LaneBlock &block, ValueRange) {
    emitBlock(inside, block);
    return LaneValues();
  };
  auto nothing = [](OpBuilder &, unsigned) { return LaneValues(); };
  auto narrow = [](OpBuilder &, ValueRange) { return LaneValues(); };
  LaneWalk(loc, lanes, unroll, {emitBody, nothing, narrow})
      .emit(builder, range);
}

/// Independent accumulators hide latency. Loops without any overlap by
/// themselves, and are faster where they store in order of address (measured:
/// layer norm 88 % of copy bandwidth against 74 % in blocks of four).
unsigned LoopEmitter::unrollOf(const Phase &phase) const {
  unsigned cost = stepCost(phase.inner);
  if (phase.reductions.empty())
    return 1;
  // What else is in the kernel would change the order of its sums.
  if (dist::chunksOf(func::FuncOp(kernel.func)))
    return 4;
  if (cost > 100)
    return 1;
  return cost > 24 ? 2 : 4;
}

} // namespace tessera
