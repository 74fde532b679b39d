//===- BufferSharing.cpp - in-place results and launch ranges -------------===//

#include "tessera/Lower/Kernels/BufferSharing.h"
#include "tessera/Lower/Kernels/KernelLoops.h"

using namespace mlir;

namespace tessera {

/// Elements that a thread should get at least, so that starting it pays.
static constexpr int64_t kGrainElements = 4096;
/// A multiple of the widest block of columns that a walk takes at once.
static constexpr int64_t kGrainColumns = 64;

/// Returns whether no phase reads `tensor` after the one that stores `result`.
static bool readsEndBeforeStore(const KernelLoops &loops, Value tensor,
                                unsigned result) {
  bool stored = false;
  for (const LoopPhase &phase : loops.phases) {
    if (stored && phase.reads.contains(tensor))
      return false;
    stored |= llvm::is_contained(phase.stores, result);
  }
  return true;
}

static bool mayShare(const Kernel &kernel, const KernelLoops &loops,
                     Value tensor, unsigned result) {
  Value value = kernel.results[result];
  if (tensor.getType() != value.getType() || kernel.isTable(tensor))
    return false;
  Dims domain = kernel.domainOf(value);
  // A scalar result is written by every range, so others could read it late.
  bool isShared = domain == kNone && kernel.rows * kernel.cols != 1;
  if (kernel.domainOf(tensor) != domain || isShared)
    return false;
  if (domain != kBoth || kernel.traversal == Traversal::Flat)
    return true;
  return readsEndBeforeStore(loops, tensor, result);
}

SmallVector<std::pair<unsigned, unsigned>>
findSharedBuffers(func::FuncOp func) {
  SmallVector<std::pair<unsigned, unsigned>> pairs;
  FailureOr<Kernel> kernel = Kernel::analyze(func);
  if (failed(kernel))
    return pairs;
  KernelLoops loops = planLoops(*kernel);
  for (BlockArgument argument : func.getArguments())
    for (unsigned result = 0; result < func.getNumResults(); ++result)
      if (mayShare(*kernel, loops, argument, result))
        pairs.push_back({argument.getArgNumber(), result});
  return pairs;
}

FailureOr<LaunchShape> getLaunchShape(func::FuncOp func) {
  FailureOr<Kernel> kernel = Kernel::analyze(func);
  if (failed(kernel))
    return failure();
  if (kernel->outer == kCol)
    return LaunchShape{kernel->cols, kGrainColumns};
  int64_t grain = (kGrainElements + kernel->cols - 1) / kernel->cols;
  return LaunchShape{kernel->rows, grain};
}

} // namespace tessera
