//===- KernelLoops.cpp - the loops of a kernel ----------------------------===//

#include "tessera/Lower/Kernels/KernelLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tessera {

/// A row's scratch must stay in the L2 cache and on a thread's stack.
static constexpr int64_t kMaxScratchBytes = 128 << 10;
static constexpr unsigned kCheapCost = 8;

unsigned stepCost(ArrayRef<linalg::GenericOp> ops) {
  unsigned cost = 0;
  for (linalg::GenericOp op : ops)
    for (Operation &body : op.getBody()->without_terminator()) {
      bool isFunction = isa_and_nonnull<math::MathDialect>(body.getDialect()) &&
                        !isa<math::AbsFOp, math::FmaOp>(body);
      cost += isFunction ? 20 : isa<arith::DivFOp>(body) ? 9 : 1;
    }
  return cost;
}

namespace {
class LoopPlanner {
public:
  explicit LoopPlanner(const Kernel &kernel) : kernel(kernel) {}
  KernelLoops run();

private:
  void findLevels();
  void planFlat(KernelLoops &loops);
  KernelLoops plan();
  void fillPhase(LoopPhase &phase, unsigned level);
  void need(Value tensor, unsigned level, LoopPhase &phase,
            DenseSet<Operation *> &wanted);
  bool chooseSpills(const KernelLoops &loops);
  bool isResult(Value tensor) const {
    return llvm::is_contained(kernel.results, tensor);
  }

  const Kernel &kernel;
  /// The first phase in which a value is known; an op's own phase.
  DenseMap<Value, unsigned> known;
  DenseMap<Operation *, unsigned> levels;
  SetVector<Value> spilled;
  int64_t scratchBytes = 0;
};
} // namespace

void LoopPlanner::findLevels() {
  for (linalg::GenericOp op : kernel.generics) {
    unsigned level = 0;
    for (Value operand : op->getOperands())
      level = std::max(level, known.lookup(operand));
    levels[op] = level;
    for (Value result : op->getResults())
      known[result] =
          level + (kernel.isReduction(op) && !kernel.isColumnReduction(op));
  }
}

/// Asks for a value along the inner dimension: an argument to load, a value
/// kept from an earlier phase, or an op to evaluate here.
void LoopPlanner::need(Value tensor, unsigned level, LoopPhase &phase,
                       DenseSet<Operation *> &wanted) {
  if (kernel.isSplat(tensor) || !(kernel.domainOf(tensor) & kernel.inner))
    return;
  if (isa<BlockArgument>(tensor)) {
    phase.reads.insert(tensor);
    return;
  }
  bool isKept = kernel.domainOf(tensor) == kBoth &&
                (isResult(tensor) || spilled.contains(tensor));
  if (isKept && known.lookup(tensor) < level)
    phase.reloads.insert(tensor);
  else
    wanted.insert(tensor.getDefiningOp());
}

void LoopPlanner::fillPhase(LoopPhase &phase, unsigned level) {
  DenseSet<Operation *> wanted;
  for (linalg::GenericOp op : kernel.generics) {
    if (levels[op] != level)
      continue;
    if (kernel.isReduction(op)) {
      wanted.insert(op);
      auto &reductions = kernel.isColumnReduction(op) ? phase.columnReductions
                                                      : phase.reductions;
      for (Value result : op->getResults())
        reductions.push_back(*kernel.reductionOf(result));
    } else if (kernel.domainOf(op) == kernel.outer) {
      phase.before.push_back(op);
    }
  }
  for (auto [i, result] : llvm::enumerate(kernel.results)) {
    if (kernel.domainOf(result) != kBoth || known.lookup(result) != level)
      continue;
    phase.stores.push_back(i);
    need(result, level, phase, wanted);
  }
  for (Value value : spilled) {
    if (known.lookup(value) != level)
      continue;
    phase.spills.push_back(value);
    need(value, level, phase, wanted);
  }
  for (linalg::GenericOp op : llvm::reverse(kernel.generics)) {
    if (!wanted.contains(op))
      continue;
    phase.inner.push_back(op);
    for (OpOperand &operand : op->getOpOperands())
      if (op.payloadUsesValueFromOperand(&operand) &&
          !(op.isDpsInit(&operand) && kernel.isReduction(op)))
        need(operand.get(), level, phase, wanted);
  }
  std::reverse(phase.inner.begin(), phase.inner.end());
}

KernelLoops LoopPlanner::plan() {
  KernelLoops loops;
  unsigned last = 0;
  for (auto [value, level] : known)
    last = std::max(last, level);
  loops.phases.resize(last + 1);
  for (linalg::GenericOp op : kernel.generics)
    if (kernel.domainOf(op) == kNone)
      loops.uniform.push_back(op);
  for (auto [level, phase] : llvm::enumerate(loops.phases))
    fillPhase(phase, level);
  return loops;
}

static int64_t spillBytes(Value tensor, int64_t cols) {
  Type type = cast<RankedTensorType>(tensor.getType()).getElementType();
  return type.isIndex() || type.isInteger(1)
             ? kMaxScratchBytes + 1
             : cols * ((type.getIntOrFloatBitWidth() + 7) / 8);
}

/// Spills the first expensive value that a later phase evaluates again.
bool LoopPlanner::chooseSpills(const KernelLoops &loops) {
  if (kernel.traversal != Traversal::Rows)
    return false;
  for (auto [level, phase] : llvm::enumerate(loops.phases))
    for (linalg::GenericOp op : phase.inner) {
      if (levels[op] >= level || kernel.domainOf(op) != kBoth ||
          stepCost(op) <= kCheapCost)
        continue;
      for (Value result : op->getResults()) {
        int64_t bytes = spillBytes(result, kernel.cols);
        if (scratchBytes + bytes > kMaxScratchBytes || !spilled.insert(result))
          continue;
        scratchBytes += bytes;
        return true;
      }
    }
  return false;
}

void LoopPlanner::planFlat(KernelLoops &loops) {
  LoopPhase &phase = loops.phases.emplace_back();
  for (linalg::GenericOp op : kernel.generics)
    (kernel.domainOf(op) == kNone ? loops.uniform : phase.inner).push_back(op);
  for (auto [i, result] : llvm::enumerate(kernel.results))
    if (kernel.domainOf(result) != kNone)
      phase.stores.push_back(i);
}

KernelLoops LoopPlanner::run() {
  KernelLoops loops;
  if (kernel.traversal == Traversal::Flat) {
    planFlat(loops);
    return loops;
  }
  findLevels();
  loops = plan();
  while (chooseSpills(loops))
    loops = plan();
  return loops;
}

KernelLoops planLoops(const Kernel &kernel) {
  return LoopPlanner(kernel).run();
}

} // namespace tessera
