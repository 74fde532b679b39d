//===- FormKernels.cpp - fuses what lies between library calls ------------===//

#include "lib/Lower/Kernels/KernelSet.h"
#include "lib/Lower/Kernels/KernelWriter.h"
#include "mlir/IR/Threading.h"
#include "tessera/Dialect/NN/NNProgram.h"
#include "tessera/Dialect/RT/ResultMarks.h"

namespace tessera {
#define GEN_PASS_DEF_FORMKERNELSPASS
#include "tessera/Lower/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;

namespace {

/// Forms the kernels of one step, in a module of its own: steps are worked on
/// side by side.
class StepKernels {
public:
  StepKernels(func::FuncOp step, bool reducesColumns)
      : step(step), reducesColumns(reducesColumns),
        holder(ModuleOp::create(step.getLoc())) {}

  LogicalResult run();

  KernelSet set;

private:
  LogicalResult replace(KernelGroup &group);
  FailureOr<SharedKernel *> share(func::FuncOp func, const KernelGroup &group);

  func::FuncOp step;
  bool reducesColumns;
  OwningOpRef<ModuleOp> holder;
};

static int64_t widthOf(Value value) {
  return getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth();
}

/// Returns whether the op's result holds no more than its operand does: a mask,
/// or a cast to a wider type that only kernels read.
static bool isForReaders(Operation *op) {
  if (op->hasAttr(rt::RTDialect::kKeepAttr) ||
      op->hasAttr(rt::RTDialect::kRoleAttr))
    return false;
  if (auto cast = dyn_cast<nn::CastOp>(op))
    return widthOf(cast.getInput()) < widthOf(cast.getOutput()) &&
           llvm::all_of(cast->getUsers(), [](Operation *reader) {
             return kernelSpace(reader).has_value();
           });
  return isa<dist::MaskOp>(op);
}

/// Repeats masks and casts in readers: every kernel masks and widens what it
/// reads itself, so that nothing masked or wide is stored. Readers come before
/// what they read, as a mask may be masked again.
static void repeatInReaders(func::FuncOp step) {
  SmallVector<Operation *> ops;
  step.walk([&](Operation *op) {
    if (isForReaders(op))
      ops.push_back(op);
  });
  for (Operation *op : llvm::reverse(ops)) {
    if (op->hasOneUse())
      continue;
    for (OpOperand &use : llvm::make_early_inc_range(op->getUses())) {
      Operation *reader = use.getOwner();
      if (!kernelSpace(reader))
        continue;
      OpBuilder builder(reader);
      Operation *clone = builder.clone(*op);
      inheritPhase(clone, reader);
      use.set(clone->getResult(0));
    }
    if (op->use_empty())
      op->erase();
  }
}

LogicalResult StepKernels::run() {
  repeatInReaders(step);
  SmallVector<Block *> blocks = {&step.getBody().front()};
  step.walk(
      [&](rt::LoopOp loop) { blocks.push_back(&loop.getBody().front()); });
  for (Block *block : blocks)
    for (auto &group : formGroups(*block, reducesColumns))
      if (failed(replace(*group)))
        return failure();
  step.walk([](nn::ConstantOp op) {
    if (op->use_empty())
      op.erase();
  });
  WalkResult left = step.walk([](Operation *op) {
    if (!isa_and_nonnull<nn::NNDialect>(op->getDialect()) &&
        !isa<KernelOpInterface>(op))
      return WalkResult::advance();
    op->emitOpError() << "has no lowering to the runtime";
    return WalkResult::interrupt();
  });
  return failure(left.wasInterrupted());
}

FailureOr<SharedKernel *> StepKernels::share(func::FuncOp func,
                                             const KernelGroup &group) {
  auto [kernel, isNew] = set.insert(func, KernelSet::hashOf(func));
  if (!isNew) {
    func.erase();
    return &kernel;
  }
  FailureOr<LaunchShape> shape = getLaunchShape(func);
  if (failed(shape))
    return group.members.back().op->emitOpError()
           << "is in a kernel that cannot be generated";
  kernel.shape = *shape;
  for (const KernelMember &member : group.members)
    kernel.ops.push_back(member.op->getName().stripDialect());
  return &kernel;
}

LogicalResult StepKernels::replace(KernelGroup &group) {
  Operation *last = group.members.back().op;
  OpBuilder builder(last);
  KernelWriter emitter(group, builder, *holder);
  if (failed(emitter.emit()))
    return failure();
  SmallVector<Type> types;
  for (Value output : emitter.outputs)
    types.push_back(output.getType());
  FailureOr<SharedKernel *> kernel = share(emitter.func, group);
  if (failed(kernel))
    return failure();
  LaunchShape shape = (*kernel)->shape;
  auto launch = rt::LaunchOp::create(
      builder, last->getLoc(), types,
      FlatSymbolRefAttr::get((*kernel)->func.getNameAttr()), emitter.inputs,
      emitter.scalars, builder.getI64IntegerAttr(shape.count),
      builder.getI64IntegerAttr(shape.grain));
  (*kernel)->launches.push_back(launch);
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

struct FormKernelsPass : tessera::impl::FormKernelsPassBase<FormKernelsPass> {
  using FormKernelsPassBase::FormKernelsPassBase;

  void runOnOperation() override {
    FailureOr<SmallVector<func::FuncOp>> programs =
        nn::findPrograms(getOperation());
    if (failed(programs))
      return signalPassFailure();
    std::deque<StepKernels> formed;
    for (func::FuncOp program : *programs)
      formed.emplace_back(program, reducesColumns);
    if (failed(failableParallelForEach(
            &getContext(), formed,
            [](StepKernels &kernels) { return kernels.run(); })))
      return signalPassFailure();
    KernelSet all;
    for (StepKernels &kernels : formed)
      for (SharedKernel &kernel : kernels.set.kernels)
        share(kernel, all);
  }

  void share(SharedKernel &kernel, KernelSet &all);
};

/// Replaces kernels that steps have in common by one, in their launches too.
void FormKernelsPass::share(SharedKernel &kernel, KernelSet &all) {
  auto [shared, isNew] = all.insert(kernel.func, kernel.hash);
  if (isNew) {
    constexpr size_t kLongEnough = 48;
    std::string name = "kernel_" + std::to_string(all.kernels.size() - 1);
    for (StringRef op : kernel.ops)
      if (name.size() < kLongEnough)
        name += "_" + op.str();
    kernel.func->remove();
    getOperation().push_back(kernel.func);
    kernel.func.setName(name);
  }
  auto symbol = FlatSymbolRefAttr::get(shared.func.getNameAttr());
  for (rt::LaunchOp launch : kernel.launches)
    launch.setKernelAttr(symbol);
}

} // namespace
