//===- BufferSharing.cpp - in-place results and launch ranges -------------===//

#include "tessera/Lower/Kernels/BufferSharing.h"
#include "tessera/Lower/Kernels/KernelLoops.h"

using namespace mlir;

namespace tessera {

/// Elements that a thread should get at least, so that starting it pays.
static constexpr int64_t kGrainElements = 4096;
/// A multiple of the widest block of columns that a walk takes at once.
static constexpr int64_t kGrainColumns = 64;

/// True if no phase reads `tensor` after the one that stores `result`.
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

bool mayShareBuffer(func::FuncOp func, unsigned argument, unsigned result) {
  FailureOr<Kernel> kernel = Kernel::analyze(func);
  if (failed(kernel))
    return false;
  Value tensor = func.getArgument(argument);
  Value value = kernel->results[result];
  if (tensor.getType() != value.getType() || kernel->isTable(tensor))
    return false;
  Dims domain = kernel->domainOf(value);
  // A scalar result is written by every range, so others could read it late.
  bool isShared = domain == kNone && kernel->rows * kernel->cols != 1;
  if (kernel->domainOf(tensor) != domain || isShared)
    return false;
  if (domain != kBoth || kernel->traversal == Traversal::Flat)
    return true;
  return readsEndBeforeStore(planLoops(*kernel), tensor, result);
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
