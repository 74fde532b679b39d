//===- KernelEmitter.cpp - what all traversals share ----------------------===//

#include "KernelEmitter.h"
#include "Accumulators.h"
#include "VectorMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tessera {

/// Lanes fill a vector of the widest float; f32 and narrower share a count.
static unsigned chooseLanes(const Kernel &kernel, unsigned vectorBits) {
  bool isWide = false;
  func::FuncOp func = kernel.func;
  func.walk([&](Operation *op) {
    for (Type type :
         llvm::concat<const Type>(SmallVector<Type>(op->getOperandTypes()),
                                  SmallVector<Type>(op->getResultTypes())))
      isWide |= getElementTypeOrSelf(type).isF64();
  });
  return vectorBits / (isWide ? 64 : 32);
}

KernelEmitter::KernelEmitter(const Kernel &kernel, unsigned vectorBits)
    : kernel(kernel), schedule(planPhases(kernel)),
      loc(func::FuncOp(kernel.func).getLoc()),
      lanes(chooseLanes(kernel, vectorBits)),
      registers(vectorBits == 512 ? 32 : 16), body(kernel, loc),
      uniform(OpBuilder(func::FuncOp(kernel.func).getContext())) {}

LLVM::LLVMFuncOp KernelEmitter::emit() {
  createFunction();
  bindArguments();
  emitUniform();
  switch (kernel.traversal) {
  case Traversal::Rows:
    emitRows();
    break;
  case Traversal::Columns:
    emitColumns();
    break;
  case Traversal::Flat:
    emitFlat();
    break;
  }
  Position position;
  position.scopes[kNone] = &uniform;
  storeResults(kNone, position);
  return function;
}

void KernelEmitter::createFunction() {
  func::FuncOp func = kernel.func;
  OpBuilder builder(func);
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Type i64 = builder.getI64Type();
  auto type =
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()),
                                  {pointer, pointer, i64, i64});
  function = LLVM::LLVMFuncOp::create(builder, loc, func.getName(), type,
                                      LLVM::Linkage::Internal);
  Block *entry = function.addEntryBlock(builder);
  begin = entry->getArgument(2);
  end = entry->getArgument(3);
  builder.setInsertionPointToStart(entry);
  Operation *ret = LLVM::ReturnOp::create(builder, loc, ValueRange{});
  uniform.builder = OpBuilder(ret);
}

void KernelEmitter::bindArguments() {
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

void KernelEmitter::allocateScratch() {
  OpBuilder &builder = uniform.builder;
  for (const Phase &phase : schedule.phases)
    for (Value value : phase.spills) {
      Type element = cast<RankedTensorType>(value.getType()).getElementType();
      body.scratch[value] = LLVM::AllocaOp::create(
          builder, loc, function.getArgument(0).getType(), element,
          constantI64(builder, loc, kernel.cols), /*alignment=*/64);
    }
}

void KernelEmitter::emitUniform() {
  func::FuncOp func = kernel.func;
  Position position;
  position.scopes[kNone] = &uniform;
  for (Operation &op : func.getBody().front()) {
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (generic && llvm::is_contained(schedule.uniform, generic))
      body.emitGeneric(generic, position);
    bool isTensorOp =
        op.getNumResults() == 0 || isa<TensorType>(op.getResult(0).getType());
    if (!generic && !isTensorOp)
      body.emitOp(&op, position);
  }
}

void KernelEmitter::storeResults(Dims domain, const Position &position) {
  // All values first: a result may overwrite an argument of another one.
  for (Value result : kernel.results)
    if (kernel.domainOf(result) == domain)
      body.element(result, position);
  for (auto [result, buffer] : llvm::zip(kernel.results, resultBuffers))
    if (kernel.domainOf(result) == domain)
      body.storeElement(result, buffer, position);
}

LaneValues KernelEmitter::identities(const Phase &phase, unsigned lanes,
                                     OpBuilder &builder) {
  LaneValues values;
  for (const Reduction &reduction : phase.reductions) {
    Type element = getElementTypeOrSelf(reduction.result().getType());
    values.push_back(
        identityOf(builder, loc, reduction, vectorOf(element, lanes)));
  }
  return values;
}

LaneValues KernelEmitter::emitStep(const Phase &phase, const Position &position,
                                   ValueRange carried, Value mask) {
  for (linalg::GenericOp op : phase.inner)
    body.emitGeneric(op, position);
  for (unsigned i : phase.stores)
    body.element(kernel.results[i], position);
  for (unsigned i : phase.stores)
    body.storeElement(kernel.results[i], resultBuffers[i], position);
  for (Value value : phase.spills)
    body.storeScratch(value, position);

  LaneValues updated;
  for (auto [reduction, accumulator] : llvm::zip(phase.reductions, carried)) {
    OpBuilder &builder = position.scope(kBoth).builder;
    Value input = body.lanesOf(body.lookup(reduction.input, position), builder,
                               position.lanes);
    updated.push_back(
        accumulate(builder, loc, reduction, accumulator, input, mask));
  }
  return updated;
}

void KernelEmitter::walkLanes(
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

Value KernelEmitter::withInit(const Reduction &reduction, Value value,
                              const Position &position) {
  Value init = reduction.init();
  if (kernel.isSplat(init) && !kernel.splatValue(init) &&
      !kernel.splatAttr(init))
    return value;
  OpBuilder &builder = position.scope(kernel.outer).builder;
  Value start = body.element(init, position);
  if (isa<VectorType>(value.getType()))
    start = body.lanesOf(start, builder, position.lanes);
  return combine(builder, loc, reduction, start, value);
}

/// Independent accumulators hide latency. Loops without any overlap by
/// themselves, and are faster where they store in order of address (measured:
/// layer norm 88 % of copy bandwidth against 74 % in blocks of four).
unsigned KernelEmitter::unrollOf(const Phase &phase) const {
  unsigned cost = stepCost(phase.inner);
  if (phase.reductions.empty() || cost > 100)
    return 1;
  return cost > 24 ? 2 : 4;
}

} // namespace tessera
