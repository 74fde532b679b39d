//===- RecomputeElementwise.cpp - what kernels of backward compute again --===//
// If a value is an elementwise function of one value of its size, a kernel of
// backward reads either at the same cost. So the argument is kept instead, and
// the forward kernel need not store the result. If only the store is saved, a
// CPU is slower for functions such as exp; a GPU is not. If the argument has a
// narrower type, neither is.
//===----------------------------------------------------------------------===//

#include "mlir/IR/IRMapping.h"
#include "tessera/Dialect/NN/Marks.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/RT/RT.h"
#include "tessera/Lower/Kernels/KernelOpInterface.h"
#include "tessera/Lower/Passes.h"
#include "llvm/ADT/SetVector.h"

namespace tessera {
#define GEN_PASS_DEF_RECOMPUTEELEMENTWISEPASS
#include "tessera/Lower/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;

namespace {

/// More ops than this would cost more than the memory traffic they save.
constexpr size_t kMostOps = 4;

int64_t elementsOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getNumElements();
}

/// Returns whether the op computes each element from elements at the same
/// place.
bool isElementwise(Operation *op) {
  std::optional<KernelSpace> space = kernelSpace(op);
  if (!space || space->reduction != KernelSpace::None ||
      op->getNumResults() != 1)
    return false;
  return llvm::none_of(space->operands, [](const KernelOperand &operand) {
    return operand.access == KernelOperand::Table;
  });
}

/// Returns whether only the shape of the value matters to its user.
bool lendsShape(OpOperand &use) {
  std::optional<KernelSpace> space = kernelSpace(use.getOwner());
  return space &&
         space->operands[use.getOperandNumber()].access == KernelOperand::Shape;
}

/// Returns whether verify compares the op's result or a role refers to it.
bool isNamed(Operation *op) {
  return op->hasAttr(rt::RTDialect::kKeepAttr) ||
         op->hasAttr(rt::RTDialect::kRoleAttr);
}

bool isReadInBackward(Operation *op) {
  return !llvm::all_of(op->getUsers(), nn::isForward);
}

/// The forward ops that make a value from one other value of its size.
class Chain {
public:
  /// Finds the other value; returns false if there is none, or it is larger.
  bool find(Value value) {
    bytes = rt::bytesOf(value);
    return visit(value.getDefiningOp()) && root && rt::bytesOf(root) <= bytes;
  }

  /// Returns whether the other value takes fewer bytes.
  bool isRootNarrower() const { return rt::bytesOf(root) < bytes; }

  bool isCostly() const {
    return llvm::any_of(ops, [](Operation *op) {
      auto kernelOp = dyn_cast<KernelOpInterface>(op);
      return kernelOp && kernelOp.isCostly();
    });
  }

  /// Returns whether backward has what the value is made of, whatever becomes
  /// of it.
  bool isRootKept() const {
    return isa<BlockArgument>(root) ||
           llvm::any_of(root.getUses(), [](OpOperand &use) {
             return !nn::isForward(use.getOwner()) && !lendsShape(use);
           });
  }

  /// Erases the ops whose results nobody reads any more, the last one first.
  void eraseUnused() {
    for (Operation *op : llvm::reverse(ops))
      if (op->use_empty() && !isNamed(op))
        op->erase();
  }

  Value cloneBefore(Operation *reader, Value value) const {
    OpBuilder builder(reader);
    IRMapping map;
    for (Operation *op : ops) {
      Operation *clone = builder.clone(*op, map);
      for (StringRef mark : {StringRef(nn::NNDialect::kPhaseAttr),
                             StringRef(rt::RTDialect::kKeepAttr),
                             StringRef(rt::RTDialect::kRoleAttr)})
        clone->removeAttr(mark);
      nn::inheritPhase(clone, reader);
    }
    return map.lookup(value);
  }

private:
  /// Adds what makes the op's operands of its size, then the op.
  bool visit(Operation *op, size_t depth = 1) {
    if (ops.contains(op))
      return true;
    if (depth > kMostOps)
      return false;
    for (Value operand : op->getOperands()) {
      if (!isa<RankedTensorType>(operand.getType()))
        return false;
      if (elementsOf(operand) != elementsOf(op->getResult(0)))
        continue;
      Operation *maker = operand.getDefiningOp();
      bool isMade = maker && maker->getBlock() == op->getBlock() &&
                    nn::isForward(maker) && isElementwise(maker);
      if (isMade ? !visit(maker, depth + 1) : !setRoot(operand))
        return false;
    }
    ops.insert(op);
    return ops.size() <= kMostOps;
  }

  bool setRoot(Value value) {
    bool isOther = root && root != value;
    root = value;
    return !isOther;
  }

  Value root;
  int64_t bytes = 0; ///< Bytes of the value that is made.
  llvm::SetVector<Operation *> ops;
};

struct RecomputeElementwisePass
    : tessera::impl::RecomputeElementwisePassBase<RecomputeElementwisePass> {
  using RecomputeElementwisePassBase::RecomputeElementwisePassBase;

  void runOnOperation() override {
    SmallVector<Operation *> made;
    getOperation().walk([&](Operation *op) {
      // The test that looks at many ops comes last: programs may be long.
      if (nn::isForward(op) && isReadInBackward(op) && isElementwise(op) &&
          isMeantForKernels(op))
        made.push_back(op);
    });
    // In order: a chain that is erased holds only ops that had their turn.
    for (Operation *op : made)
      recompute(op->getResult(0));
  }

  bool isMeantForKernels(Operation *op);
  void recompute(Value value);
};

/// Returns whether the value need not be stored: only kernels read it, and
/// verify does not compare it.
bool RecomputeElementwisePass::isMeantForKernels(Operation *op) {
  return !isNamed(op) && llvm::all_of(op->getUsers(), [&](Operation *user) {
    return user->getBlock() == op->getBlock() && kernelSpace(user).has_value();
  });
}

void RecomputeElementwisePass::recompute(Value value) {
  SmallVector<OpOperand *> uses;
  Operation *first = nullptr;
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (nn::isForward(user))
      continue;
    uses.push_back(&use);
    if (!first || user->isBeforeInBlock(first))
      first = user;
  }
  Chain chain;
  if (!chain.find(value))
    return;
  if (chain.isCostly() && !chain.isRootKept() && !chain.isRootNarrower() &&
      !functions)
    return;
  Value again = chain.cloneBefore(first, value);
  for (OpOperand *use : uses)
    use->set(again);
  chain.eraseUnused();
}

} // namespace
