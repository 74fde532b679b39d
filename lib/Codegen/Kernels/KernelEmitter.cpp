//===- KernelEmitter.cpp - what code of a kernel shares -------------------===//

#include "lib/Codegen/Kernels/KernelEmitter.h"
#include "lib/Codegen/Kernels/Accumulators.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tessera {

unsigned widestFloat(const Kernel &kernel) {
  bool isWide = false;
  func::FuncOp func = kernel.func;
  func.walk([&](Operation *op) {
    for (Type type :
         llvm::concat<const Type>(SmallVector<Type>(op->getOperandTypes()),
                                  SmallVector<Type>(op->getResultTypes())))
      isWide |= getElementTypeOrSelf(type).isF64();
  });
  return isWide ? 64 : 32;
}

KernelEmitter::KernelEmitter(const Kernel &kernel)
    : kernel(kernel), loops(planLoops(kernel)),
      loc(func::FuncOp(kernel.func).getLoc()), body(kernel, loc),
      uniform(OpBuilder(func::FuncOp(kernel.func).getContext())) {}

void KernelEmitter::createFunction(StringRef name, ArrayRef<Type> parameters) {
  func::FuncOp func = kernel.func;
  OpBuilder builder(func);
  auto type = LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(builder.getContext()), parameters);
  function = LLVM::LLVMFuncOp::create(builder, loc, name, type,
                                      LLVM::Linkage::Internal);
  builder.setInsertionPointToStart(function.addEntryBlock(builder));
  uniform.builder = OpBuilder(
      LLVM::ReturnOp::create(builder, loc, ValueRange{}).getOperation());
}

void KernelEmitter::emitContent() {
  emitUniform();
  switch (kernel.traversal) {
  case Traversal::Rows:
    return emitRows();
  case Traversal::Columns:
    return emitColumns();
  case Traversal::Flat:
    return emitFlat();
  }
}

void KernelEmitter::emitUniform() {
  func::FuncOp func = kernel.func;
  Position position;
  position.scopes[kNone] = &uniform;
  for (Operation &op : func.getBody().front()) {
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (generic && llvm::is_contained(loops.uniform, generic))
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

LaneValues KernelEmitter::identities(ArrayRef<Reduction> reductions,
                                     unsigned lanes, OpBuilder &builder) {
  LaneValues values;
  for (const Reduction &reduction : reductions) {
    Type element = getElementTypeOrSelf(reduction.result().getType());
    values.push_back(
        identityOf(builder, loc, reduction, vectorOf(element, lanes)));
  }
  return values;
}

void KernelEmitter::evaluateStep(const LoopPhase &phase,
                                 const Position &position) {
  for (linalg::GenericOp op : phase.inner)
    body.emitGeneric(op, position);
  for (unsigned i : phase.stores)
    body.element(kernel.results[i], position);
  for (const Reduction &reduction :
       llvm::concat<const Reduction>(phase.reductions, phase.columnReductions))
    body.lookup(reduction.input, position);
}

LaneValues KernelEmitter::finishStep(const LoopPhase &phase,
                                     const Position &position,
                                     ValueRange carried, Value mask) {
  for (unsigned i : phase.stores)
    body.storeElement(kernel.results[i], resultBuffers[i], position);
  for (Value value : phase.spills)
    body.storeScratch(value, position);

  LaneValues updated;
  for (auto [reduction, accumulator] :
       llvm::zip(llvm::concat<const Reduction>(phase.reductions,
                                               phase.columnReductions),
                 carried)) {
    OpBuilder &builder = position.scope(kBoth).builder;
    Value input = body.lanesOf(body.lookup(reduction.input, position), builder,
                               position.lanes);
    updated.push_back(
        accumulate(builder, loc, reduction, accumulator, input, mask));
  }
  return updated;
}

LaneValues KernelEmitter::emitStep(const LoopPhase &phase,
                                   const Position &position, ValueRange carried,
                                   Value mask) {
  evaluateStep(phase, position);
  return finishStep(phase, position, carried, mask);
}

Value KernelEmitter::withInit(const Reduction &reduction, Value value,
                              const Position &position) {
  Value init = reduction.init();
  if (kernel.isSplat(init) && !kernel.splatValue(init) &&
      !kernel.splatAttr(init))
    return value;
  OpBuilder &builder =
      position.scope(kernel.domainOf(reduction.result())).builder;
  Value start = body.element(init, position);
  if (isa<VectorType>(value.getType()))
    start = body.lanesOf(start, builder, position.lanes);
  return combine(builder, loc, reduction, start, value);
}

} // namespace tessera
