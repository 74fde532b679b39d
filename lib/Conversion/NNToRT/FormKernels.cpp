//===- FormKernels.cpp - fuses what lies between library calls ------------===//

#include "KernelWriter.h"
#include "Marks.h"
#include "mlir/IR/OperationSupport.h"
#include "tessera/Conversion/KernelToLLVM/BufferSharing.h"
#include "tessera/Dialect/NN/Program.h"
#include <unordered_map>

namespace tessera {
#define GEN_PASS_DEF_FORMKERNELSPASS
#include "tessera/Conversion/NNToRT/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;

namespace {

struct FormKernelsPass : tessera::impl::FormKernelsPassBase<FormKernelsPass> {
  void runOnOperation() override {
    known.clear();
    kernels = 0;
    FailureOr<SmallVector<func::FuncOp>> steps = nn::findSteps(getOperation());
    if (failed(steps))
      return signalPassFailure();
    for (func::FuncOp step : *steps)
      if (failed(formKernels(step)))
        return signalPassFailure();
  }

  LogicalResult formKernels(func::FuncOp func);
  LogicalResult replace(KernelGroup &group);
  StringRef share(func::FuncOp kernel, KernelGroup &group);

  /// Kernels by the hash of their ops.
  std::unordered_map<size_t, SmallVector<func::FuncOp, 1>> known;
  int64_t kernels = 0;
};

LogicalResult FormKernelsPass::formKernels(func::FuncOp func) {
  SmallVector<Block *> blocks = {&func.getBody().front()};
  func.walk(
      [&](rt::LoopOp loop) { blocks.push_back(&loop.getBody().front()); });
  for (Block *block : blocks)
    for (auto &group : formGroups(*block))
      if (failed(replace(*group)))
        return failure();
  func.walk([](nn::ConstantOp op) {
    if (op->use_empty())
      op.erase();
  });
  WalkResult left = func.walk([](Operation *op) {
    if (!isa<nn::NNDialect>(op->getDialect()))
      return WalkResult::advance();
    op->emitOpError() << "has no lowering to the runtime";
    return WalkResult::interrupt();
  });
  return failure(left.wasInterrupted());
}

static size_t hashOf(func::FuncOp kernel) {
  llvm::hash_code hash = hash_value(Type(kernel.getFunctionType()));
  kernel.getBody().walk([&](Operation *op) {
    hash =
        llvm::hash_combine(hash, OperationEquivalence::computeHash(
                                     op, OperationEquivalence::ignoreHashValue,
                                     OperationEquivalence::ignoreHashValue,
                                     OperationEquivalence::IgnoreLocations));
  });
  return hash;
}

/// In everything but the name.
static bool areEqual(func::FuncOp a, func::FuncOp b) {
  return a.getFunctionType() == b.getFunctionType() &&
         a.getArgAttrsAttr() == b.getArgAttrsAttr() &&
         a->getDiscardableAttrDictionary() ==
             b->getDiscardableAttrDictionary() &&
         OperationEquivalence::isRegionEquivalentTo(
             &a.getBody(), &b.getBody(), OperationEquivalence::IgnoreLocations);
}

/// Equal kernels are shared: layers differ in operands only.
StringRef FormKernelsPass::share(func::FuncOp kernel, KernelGroup &group) {
  SmallVector<func::FuncOp, 1> &alike = known[hashOf(kernel)];
  for (func::FuncOp other : alike)
    if (areEqual(kernel, other)) {
      kernel.erase();
      return other.getName();
    }
  std::string name = "kernel_" + std::to_string(kernels++);
  for (const KernelMember &member : group.members)
    if (name.size() < 48)
      name += "_" + member.op->getName().stripDialect().str();
  kernel.setName(name);
  alike.push_back(kernel);
  return kernel.getName();
}

LogicalResult FormKernelsPass::replace(KernelGroup &group) {
  Operation *last = group.members.back().op;
  OpBuilder builder(last);
  KernelWriter emitter(group, builder, getOperation());
  if (failed(emitter.emit()))
    return failure();
  SmallVector<Type> types;
  for (Value output : emitter.outputs)
    types.push_back(output.getType());
  FailureOr<LaunchShape> shape = getLaunchShape(emitter.func);
  if (failed(shape))
    return last->emitOpError() << "is in a kernel that cannot be generated";
  StringRef name = share(emitter.func, group);
  auto launch = rt::LaunchOp::create(
      builder, last->getLoc(), types,
      FlatSymbolRefAttr::get(&getContext(), name), emitter.inputs,
      emitter.scalars, builder.getI64IntegerAttr(shape->count),
      builder.getI64IntegerAttr(shape->grain));
  for (auto [output, result] : llvm::zip(emitter.outputs, launch.getOutputs()))
    for (StringRef name : {StringRef(rt::RTDialect::kKeepAttr),
                           StringRef(rt::RTDialect::kRoleAttr)})
      if (DictionaryAttr entry = getResultEntry(cast<OpResult>(output), name))
        setResultEntry(cast<OpResult>(result), name, entry);
  inheritPhase(launch, last);
  for (auto [output, result] : llvm::zip(emitter.outputs, launch.getOutputs()))
    output.replaceAllUsesWith(result);
  for (KernelMember &member : llvm::reverse(group.members))
    member.op->erase();
  return success();
}

} // namespace
