//===- BufferKind.cpp - what the buffers of an arena hold -----------------===//

#include "lib/Memory/BufferKind.h"
#include "lib/Memory/MemoryRules.h"
#include "tessera/Dialect/NN/Marks.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/NN/NNProgram.h"
#include "tessera/Dialect/RT/RTProgram.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::rt;

BufferKind rt::kindOfArgument(func::FuncOp func, unsigned index) {
  if (func.getArgAttr(index, nn::NNDialect::kParamAttr))
    return Weights;
  auto role =
      func.getArgAttrOfType<StringAttr>(index, nn::NNDialect::kRoleAttr);
  if (!role)
    return Inputs;
  return llvm::StringSwitch<BufferKind>(role)
      .Case("master", Weights)
      .Cases({"moment1", "moment2"}, Optimizer)
      .Cases({nn::kKeyCache, nn::kValueCache}, Caches)
      .Default(Inputs);
}

static bool isGradient(Value value) {
  DictionaryAttr entry = resultEntry(value, RTDialect::kRoleAttr);
  auto role =
      entry ? entry.getAs<StringAttr>(nn::NNDialect::kRoleAttr) : StringAttr();
  return role && role == "gradient";
}

/// Returns whether a value becomes a gradient by collectives alone.
static bool becomesGradient(Value value) {
  return isGradient(value) || llvm::any_of(value.getUses(), [](OpOperand &use) {
           Operation *op = use.getOwner();
           bool isOne = isa<AllReduceOp, ConcatOp, ViewOp>(op);
           if (!isOne &&
               !isa<ReduceScatterOp, ReduceScatterCoalescedOp, WaitOp>(op))
             return false;
           unsigned result = isOne ? 0 : use.getOperandNumber();
           return result < op->getNumResults() &&
                  becomesGradient(op->getResult(result));
         });
}

/// Returns whether ranks reduce the value to their shards of a gradient, under
/// ZeRO: at once, or along one axis after the other.
static bool isScatteredGradient(Value value) {
  return llvm::any_of(value.getUses(), [](OpOperand &use) {
    Operation *op = use.getOwner();
    return isa<ReduceScatterOp, ReduceScatterCoalescedOp>(op) &&
           becomesGradient(op->getResult(use.getOperandNumber()));
  });
}

static bool isWeightArgument(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto func = argument
                  ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp())
                  : func::FuncOp();
  return func && kindOfArgument(func, argument.getArgNumber()) == Weights;
}

/// Returns whether a value is made of nothing but parameters: rounded,
/// gathered, cut or put side by side.
static bool isWeight(Value value) {
  SmallVector<Value> todo = {value};
  while (!todo.empty()) {
    Value next = todo.pop_back_val();
    Operation *op = next.getDefiningOp();
    if (isWeightArgument(next))
      continue;
    if (!isa_and_nonnull<LaunchOp, ConcatOp, ViewOp, AllGatherOp,
                         AllGatherCoalescedOp, WaitOp>(op) ||
        op->getNumOperands() == 0 ||
        (isa<LaunchOp>(op) &&
         !llvm::all_of(op->getOperands(), isWeightArgument)))
      return false;
    llvm::append_range(todo, op->getOperands());
  }
  return true;
}

/// Returns whether a value is a whole parameter that its ranks gathered, under
/// ZeRO.
static bool isGatheredWeight(Value value) {
  if (auto gather = value.getDefiningOp<AllGatherOp>())
    return isWeight(gather.getInput());
  auto gather = value.getDefiningOp<AllGatherCoalescedOp>();
  return gather &&
         isWeight(gather.getInputs()[cast<OpResult>(value).getResultNumber()]);
}

BufferKind rt::kindOf(const Buffer &buffer) {
  if (llvm::any_of(buffer.members, isGradient) ||
      llvm::any_of(buffer.members, isScatteredGradient))
    return Gradients;
  if (llvm::any_of(buffer.members, isGatheredWeight))
    return GatheredWeights;
  if (llvm::any_of(buffer.members, isWeight))
    return WeightCopies;
  bool forward = false, readLater = false;
  for (Value member : buffer.members) {
    Operation *op = member.getDefiningOp();
    forward |= op && nn::isForward(op) && !isa<LoopOp>(op);
    for (Operation *user : member.getUsers())
      readLater |=
          nn::phaseOf(user) == nn::Phase::Backward || nn::isRecomputed(user);
  }
  return forward && readLater ? Activations : Workspace;
}
