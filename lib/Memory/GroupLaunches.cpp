//===- GroupLaunches.cpp - launches of equal kernels side by side ---------===//
// The optimizer goes from parameter to parameter, and launches several small
// kernels for each. Here launches of one kernel come together where nothing
// orders them, so that a GPU can run them as one (rt-batch-launches). The order
// is that of levels: a launch is one level above all that must come before it.
// Casts of parameters in forward come together where the first of them is.
//===----------------------------------------------------------------------===//

#include "lib/Memory/MemoryRules.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "tessera/Dialect/NN/Marks.h"
#include "tessera/Dialect/RT/RTProgram.h"
#include "tessera/Memory/Passes.h"

#include <map>

namespace tessera {
#define GEN_PASS_DEF_GROUPLAUNCHESPASS
#include "tessera/Memory/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;
using namespace tessera::rt;

namespace {

/// Launches that follow one another, with no other call between them.
class LaunchRun {
public:
  explicit LaunchRun(const SymbolTable &symbols) : symbols(symbols) {}

  bool isEmpty() const { return launches.empty(); }
  void add(LaunchOp launch);
  /// Moves an op that is no call before the run, if it needs none of it.
  bool moveOut(Operation *op) const;
  /// Sorts the launches by level and kernel, and forgets them.
  void sort();

private:
  unsigned levelOf(LaunchOp launch) const;
  bool mayWriteOver(LaunchOp launch, OpOperand &operand) const;

  struct Placed {
    LaunchOp launch;
    /// The level, and the number of the kernel among those of the level.
    std::pair<unsigned, unsigned> place;
  };
  const SymbolTable &symbols;
  SmallVector<Placed> launches;
  /// The level above which a value exists, and may be written over.
  llvm::DenseMap<Value, unsigned> made, read;
  std::map<std::pair<unsigned, StringRef>, unsigned> kernels;
};

/// Returns whether the memory plan may put a result in the place of an argument
/// that dies; a launch that reads it before must stay before.
bool LaunchRun::mayWriteOver(LaunchOp launch, OpOperand &operand) const {
  auto kernel = symbols.lookup<func::FuncOp>(launch.getKernel());
  auto results = llvm::seq<unsigned>(launch.getNumResults());
  return kernel && llvm::any_of(results, [&](unsigned result) {
           return mayShare(kernel, operand.getOperandNumber(), result);
         });
}

unsigned LaunchRun::levelOf(LaunchOp launch) const {
  unsigned level = 0;
  for (OpOperand &operand : launch->getOpOperands()) {
    level = std::max(level, made.lookup(operand.get()));
    if (mayWriteOver(launch, operand))
      level = std::max(level, read.lookup(operand.get()));
  }
  return level;
}

void LaunchRun::add(LaunchOp launch) {
  unsigned level = levelOf(launch);
  for (Value operand : launch->getOperands())
    read[operand] = std::max(read.lookup(operand), level + 1);
  for (Value result : launch->getResults())
    made[result] = level + 1;
  auto number = static_cast<unsigned>(kernels.size());
  auto kernel = kernels.try_emplace({level, launch.getKernel()}, number);
  launches.push_back({launch, {level, kernel.first->second}});
}

bool LaunchRun::moveOut(Operation *op) const {
  bool isCall = !isa<ViewOp>(op) &&
                !isa_and_nonnull<arith::ArithDialect>(op->getDialect());
  if (isCall || llvm::any_of(op->getOperands(),
                             [&](Value value) { return made.contains(value); }))
    return false;
  if (!launches.empty())
    op->moveBefore(launches.front().launch);
  return true;
}

void LaunchRun::sort() {
  if (launches.empty())
    return;
  Operation *last = launches.back().launch;
  Block *block = last->getBlock();
  Block::iterator end = std::next(last->getIterator());
  llvm::stable_sort(launches, [](const Placed &a, const Placed &b) {
    return a.place < b.place;
  });
  for (Placed &each : launches)
    each.launch->moveBefore(block, end);
  launches.clear();
  made.clear();
  read.clear();
  kernels.clear();
}

/// Returns whether a launch needs nothing but parameters, and the peak does not
/// rise if it runs earlier: its result is small, or backward, which begins at
/// the peak, reads it.
bool canBeEarly(LaunchOp launch) {
  constexpr int64_t smallBytes = 64 << 10;
  auto program = cast<func::FuncOp>(launch->getParentOp());
  if (nn::phaseOf(launch) != nn::Phase::Forward || !launch.getScalars().empty())
    return false;
  bool readsParameters = llvm::all_of(launch.getInputs(), [&](Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && program.getArgAttr(argument.getArgNumber(),
                                          nn::NNDialect::kParamAttr);
  });
  return readsParameters &&
         llvm::all_of(launch.getOutputs(), [&](Value result) {
           return bytesOf(result) <= smallBytes ||
                  llvm::any_of(result.getUsers(), [](Operation *user) {
                    return nn::phaseOf(user) == nn::Phase::Backward;
                  });
         });
}

/// Brings casts of parameters together, by kernel.
void groupCasts(func::FuncOp program) {
  llvm::MapVector<Attribute, SmallVector<LaunchOp>> kernels;
  for (Operation &op : program.getBody().front()) {
    if (isa<TaskOp>(op))
      return; // tasks keep what is theirs
    if (auto launch = dyn_cast<LaunchOp>(op); launch && canBeEarly(launch))
      kernels[launch.getKernelAttr()].push_back(launch);
  }
  Operation *last = nullptr;
  for (auto &[kernel, launches] : kernels) {
    if (launches.size() == 1)
      continue;
    for (LaunchOp launch : launches) {
      if (last)
        launch->moveAfter(last);
      last = launch;
    }
  }
}

struct GroupLaunches : tessera::impl::GroupLaunchesPassBase<GroupLaunches> {
  void runOnOperation() override {
    FailureOr<SmallVector<func::FuncOp>> programs =
        findPrograms(getOperation());
    if (failed(programs))
      return signalPassFailure();
    SymbolTable symbols(getOperation());
    for (func::FuncOp program : *programs) {
      groupCasts(program);
      program.walk([&](Block *block) { group(*block, symbols); });
    }
  }

  static void group(Block &block, const SymbolTable &symbols) {
    LaunchRun run(symbols);
    for (Operation &op : llvm::make_early_inc_range(block)) {
      auto launch = dyn_cast<LaunchOp>(op);
      if (launch && nn::phaseOf(launch) == nn::Phase::Optimizer)
        run.add(launch);
      else if (!run.moveOut(&op))
        run.sort();
    }
  }
};

} // namespace
