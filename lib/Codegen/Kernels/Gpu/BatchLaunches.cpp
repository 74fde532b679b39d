//===- BatchLaunches.cpp - launches that a GPU runs as one ----------------===//
// Launches of one kernel that follow one another become one where the memory
// plan keeps them apart: none touches a byte that another one writes.
//===----------------------------------------------------------------------===//

#include "lib/Codegen/Kernels/Gpu/GridShape.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "tessera/Codegen/Kernels/Passes.h"
#include "tessera/Dialect/RT/RTProgram.h"
#include "tessera/Dialect/RT/RowLayout.h"
#include "tessera/Dialect/RT/TaskOrder.h"
#include "tessera/abi.h"

namespace tessera {
#define GEN_PASS_DEF_BATCHLAUNCHESPASS
#include "tessera/Codegen/Kernels/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;

namespace {

/// Bytes of the arena, the end not included.
struct Range {
  int64_t begin, end;
};

/// The memory that a launch reads and writes.
struct Footprint {
  SmallVector<Range> reads, writes;
};

bool overlap(ArrayRef<Range> some, ArrayRef<Range> others) {
  return llvm::any_of(some, [&](Range a) {
    return llvm::any_of(
        others, [&](Range b) { return a.begin < b.end && b.begin < a.end; });
  });
}

bool areApart(const Footprint &a, const Footprint &b) {
  return !overlap(a.writes, b.writes) && !overlap(a.writes, b.reads) &&
         !overlap(a.reads, b.writes);
}

/// Returns where a tensor lies; nullopt where that depends on the micro-batch.
std::optional<Range> rangeOf(Value tensor) {
  std::optional<int64_t> begin = rt::offsetOf(tensor);
  if (!begin || rt::frameOf(*begin) != 0)
    return std::nullopt;
  for (auto view = tensor.getDefiningOp<rt::ViewOp>(); view;
       view = view.getSource().getDefiningOp<rt::ViewOp>())
    if (view.getIndex())
      return std::nullopt;
  return Range{*begin, *begin + rt::layoutOf(tensor).span() *
                                    rt::elementBytesOf(tensor)};
}

std::optional<Footprint> footprintOf(rt::LaunchOp launch) {
  Footprint all;
  auto collect = [](ValueRange values, SmallVector<Range> &ranges) {
    return llvm::all_of(values, [&](Value value) {
      std::optional<Range> range = rangeOf(value);
      if (range)
        ranges.push_back(*range);
      return range.has_value();
    });
  };
  if (!collect(launch.getInputs(), all.reads) ||
      !collect(launch.getOutputs(), all.writes))
    return std::nullopt;
  return all;
}

/// Limits how many launches of a kernel become one; 1 if it has to run alone.
class BatchLimits {
public:
  explicit BatchLimits(ModuleOp module) : symbols(module) {}

  /// Returns an error for a kernel that is not supported.
  FailureOr<int64_t> of(rt::LaunchOp launch) {
    auto [entry, isNew] = known.try_emplace(launch.getKernelAttr(), 1);
    if (!isNew || !launch.getScalars().empty())
      return entry->second;
    auto func = symbols.lookup<func::FuncOp>(launch.getKernel());
    if (!func || func.isDeclaration())
      return entry->second;
    FailureOr<Kernel> kernel = Kernel::analyze(func);
    if (failed(kernel))
      return failure();
    // Sums in two kernels pass through the one workspace.
    if (!sliceRows(*kernel))
      entry->second = TSR_BATCH_POINTERS / std::max(1u, buffersOf(launch));
    return entry->second;
  }

private:
  static unsigned buffersOf(rt::LaunchOp launch) {
    return launch.getInputs().size() + launch.getOutputs().size();
  }

  SymbolTable symbols;
  llvm::DenseMap<Attribute, int64_t> known;
};

/// Launches that become one.
class Batch {
public:
  /// Returns whether the launch can run at the same time as all of them.
  bool takes(rt::LaunchOp launch, const Footprint &footprint, int64_t limit) {
    return !launches.empty() &&
           launches.front().getKernelAttr() == launch.getKernelAttr() &&
           static_cast<int64_t>(launches.size()) < limit &&
           llvm::all_of(footprints, [&](const Footprint &other) {
             return areApart(footprint, other);
           });
  }
  void add(rt::LaunchOp launch, Footprint footprint) {
    launches.push_back(launch);
    footprints.push_back(std::move(footprint));
  }
  /// Marks the launches, and forgets them.
  void end() {
    for (auto [i, launch] : llvm::enumerate(launches))
      if (size_t followers = launches.size() - 1 - i)
        launch->setAttr(rt::RTDialect::kFollowersAttr,
                        Builder(launch).getI64IntegerAttr(followers));
    launches.clear();
    footprints.clear();
  }

private:
  SmallVector<rt::LaunchOp> launches;
  SmallVector<Footprint> footprints;
};

/// Neither a call nor the begin of a task.
bool isTransparent(Operation &op) {
  return isa<rt::ViewOp, rt::ConcatOp>(op) ||
         isa_and_nonnull<arith::ArithDialect>(op.getDialect());
}

struct BatchLaunches : tessera::impl::BatchLaunchesPassBase<BatchLaunches> {
  void runOnOperation() override {
    FailureOr<SmallVector<func::FuncOp>> programs =
        rt::findPrograms(getOperation());
    if (failed(programs))
      return signalPassFailure();
    BatchLimits limits(getOperation());
    for (func::FuncOp program : *programs) {
      WalkResult result = program.walk([&](Block *block) {
        return succeeded(mark(*block, limits)) ? WalkResult::advance()
                                               : WalkResult::interrupt();
      });
      if (result.wasInterrupted())
        return signalPassFailure();
    }
  }

  static LogicalResult mark(Block &block, BatchLimits &limits) {
    Batch batch;
    for (Operation &op : block) {
      if (isTransparent(op))
        continue;
      auto launch = dyn_cast<rt::LaunchOp>(op);
      FailureOr<int64_t> limit = launch ? limits.of(launch) : 1;
      if (failed(limit))
        return failure();
      std::optional<Footprint> footprint;
      if (*limit > 1)
        footprint = footprintOf(launch);
      if (!footprint || !batch.takes(launch, *footprint, *limit))
        batch.end();
      if (footprint)
        batch.add(launch, std::move(*footprint));
    }
    batch.end();
    return success();
  }
};

} // namespace
