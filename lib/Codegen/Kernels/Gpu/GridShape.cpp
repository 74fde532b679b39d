//===- GridShape.cpp - the grid of a kernel -------------------------------===//

#include "lib/Codegen/Kernels/Gpu/GridShape.h"
#include "tessera/Dialect/RT/RowLayout.h"

using namespace mlir;

namespace tessera {

/// An estimate, not measured: where a second launch begins to pay.
static constexpr int64_t kMinRows = 1024;
static constexpr int64_t kMinRowsOfSlice = 64;

static SmallVector<Value> buffersOf(const Kernel &kernel) {
  SmallVector<Value> buffers(kernel.results);
  func::FuncOp func = kernel.func;
  for (BlockArgument argument : func.getArguments())
    if (isa<TensorType>(argument.getType()))
      buffers.push_back(argument);
  return buffers;
}

unsigned lanesOfPlanes(const Kernel &kernel, ArrayRef<int64_t> lengths) {
  unsigned bits = 8;
  for (Value tensor : buffersOf(kernel))
    if (kernel.domainOf(tensor) == kBoth)
      bits = std::max(
          bits,
          cast<RankedTensorType>(tensor.getType()).getElementTypeBitWidth());
  if (bits == 8)
    return 1;
  unsigned lanes = 128 / bits;
  while (llvm::any_of(lengths, [&](int64_t n) { return n % lanes != 0; }))
    lanes /= 2;
  return lanes;
}

SmallVector<int64_t> lengthsOfRows(const Kernel &kernel) {
  SmallVector<int64_t> lengths;
  bool mayOverrun = kernel.traversal == Traversal::Rows;
  for (Value tensor : buffersOf(kernel)) {
    Dims domain = kernel.domainOf(tensor);
    if (domain == kBoth)
      lengths.push_back(
          rt::rowStrideOf(cast<RankedTensorType>(tensor.getType())));
    mayOverrun &= domain != kCol && !kernel.isTable(tensor);
  }
  if (!mayOverrun)
    lengths.push_back(kernel.cols);
  return lengths;
}

/// Bodies of more operations are bound by arithmetic rather than by memory.
static constexpr unsigned kLongBody = 12;

static SmallVector<Value> planesOf(const Kernel &kernel,
                                   const LoopPhase &phase) {
  SmallVector<Value> planes;
  for (Value read : phase.reads)
    if (kernel.domainOf(read) == kBoth)
      planes.push_back(read);
  return planes;
}

unsigned rowsInFlight(const Kernel &kernel, const LoopPhase &phase) {
  // Long bodies and many operands need the registers.
  unsigned rows = stepCost(phase.inner) <= kLongBody ? 4 : 2;
  constexpr unsigned loads = 8;
  while (rows > 1 && rows * planesOf(kernel, phase).size() > loads)
    rows /= 2;
  return rows;
}

static int64_t bytesOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getElementTypeBitWidth() / 8;
}

int64_t sharedBytesOfSums(const KernelLoops &loops, int64_t warps,
                          unsigned lanes) {
  int64_t bytes = 0;
  for (const LoopPhase &phase : loops.phases)
    for (const Reduction &reduction : phase.reductions)
      bytes += bytesOf(reduction.result()) * kWarp * lanes * warps;
  return bytes;
}

/// The phase whose loop is all there is to do over the rows; or null.
static const LoopPhase *onlyLoop(const KernelLoops &loops) {
  const LoopPhase *found = nullptr;
  for (const LoopPhase &phase : loops.phases) {
    if (!phase.hasLoop())
      continue;
    if (found)
      return nullptr;
    found = &phase;
  }
  return found && !found->reductions.empty() ? found : nullptr;
}

/// Returns the number of blocks that have registers for what a group of rows
/// loads, stores and adds.
static int64_t residentBlocks(const Kernel &kernel, const LoopPhase &phase,
                              unsigned lanes) {
  int64_t ofRow = 0, sums = 0;
  for (Value plane : planesOf(kernel, phase))
    ofRow += bytesOf(plane);
  for (unsigned i : phase.stores)
    ofRow += bytesOf(kernel.results[i]);
  for (const Reduction &reduction : phase.reductions)
    sums += bytesOf(reduction.result());
  constexpr int64_t bytesOfRegister = 4;
  int64_t registers =
      (ofRow * rowsInFlight(kernel, phase) + sums) * lanes / bytesOfRegister;
  // Four blocks leave 64 to a thread, which also has addresses and what the
  // lanes have in common.
  return registers <= 40 && stepCost(phase.inner) <= kLongBody ? 4 : 2;
}

SmallVector<Reduction> columnReductionsOf(const KernelLoops &loops) {
  SmallVector<Reduction> found;
  for (const LoopPhase &phase : loops.phases)
    llvm::append_range(found, phase.columnReductions);
  return found;
}

int64_t scratchBytes(const KernelLoops &loops, int64_t cols) {
  int64_t bytes = 0;
  for (const LoopPhase &phase : loops.phases)
    for (Value value : phase.spills)
      bytes += llvm::alignTo(cols * bytesOf(value), 16);
  return bytes;
}

/// Lays out the workspace, [count, columns] for each reduction.
static void placeSums(RowSlices &slices, ArrayRef<Reduction> reductions,
                      int64_t columns) {
  constexpr int64_t lineBytes = 256;
  for (const Reduction &reduction : reductions) {
    slices.offsets.push_back(slices.workspaceBytes);
    slices.workspaceBytes += llvm::alignTo(
        slices.count * columns * bytesOf(reduction.result()), lineBytes);
  }
}

/// Returns the blocks of a kernel of rows that fit on a multiprocessor at once.
/// A thread needs registers for what a step loads, stores and adds, and for
/// addresses.
static int64_t residentRows(const Kernel &kernel, const KernelLoops &loops,
                            const RowSlices &slices, int64_t steps) {
  constexpr int64_t registers = 65536, threads = 2048, blocks = 32,
                    sharedBytes = 200 << 10, others = 28, bytesOfRegister = 4;
  int64_t ofStep = 0, sums = 0;
  for (const LoopPhase &phase : loops.phases) {
    int64_t ofPhase = 0;
    for (Value plane : planesOf(kernel, phase))
      ofPhase += bytesOf(plane);
    for (unsigned i : phase.stores)
      ofPhase += bytesOf(kernel.results[i]);
    // Functions such as exp need registers beside it.
    if (stepCost(phase.inner) > 2 * kLongBody)
      ofPhase += 4 * bytesOfRegister;
    ofStep = std::max(ofStep, ofPhase);
    for (const Reduction &reduction : phase.columnReductions)
      sums += bytesOf(reduction.result()) * steps;
  }
  int64_t ofThread = llvm::alignTo(
      others + (ofStep + sums) * slices.lanes / bytesOfRegister, 8);
  int64_t shared = scratchBytes(loops, kernel.cols) * slices.groups;
  return std::max<int64_t>(
      1, std::min({registers / (ofThread * slices.threads),
                   threads / slices.threads, blocks,
                   sharedBytes / std::max<int64_t>(1, shared)}));
}

/// Shares the rows of the kernel among as many blocks as run at the same time.
/// A thread has the same columns in all of them, so it adds in registers.
static std::optional<RowSlices> shareRows(const Kernel &kernel) {
  KernelLoops loops = planLoops(kernel);
  SmallVector<Reduction> reductions = columnReductionsOf(loops);
  if (reductions.empty())
    return std::nullopt;
  RowSlices slices;
  slices.lanes = lanesOfPlanes(kernel, lengthsOfRows(kernel));
  constexpr int64_t mostThreads = 512;
  int64_t vectors = llvm::divideCeil(kernel.cols, slices.lanes);
  int64_t steps = llvm::divideCeil(vectors, mostThreads);
  slices.threads = llvm::alignTo(llvm::divideCeil(vectors, steps), kWarp);
  // Short rows: each warp has its own.
  int64_t warps = std::min(kWarpsOfSlice, kernel.rows);
  int64_t shared = scratchBytes(loops, kernel.cols) * warps;
  for (const Reduction &reduction : reductions)
    shared += bytesOf(reduction.result()) * kWarp * slices.lanes * warps;
  if (slices.threads == kWarp && shared <= kMaxSharedBytes) {
    slices.groups = warps;
    slices.threads *= warps;
  }
  slices.residentBlocks = residentRows(kernel, loops, slices, steps);
  constexpr int64_t leastRows = 4;
  slices.count = std::min<int64_t>(
      kMultiprocessors * slices.residentBlocks,
      llvm::divideCeil(kernel.rows, leastRows * slices.groups));
  placeSums(slices, reductions, kernel.cols);
  return slices;
}

std::optional<RowSlices> sliceRows(const Kernel &kernel) {
  if (kernel.traversal == Traversal::Rows)
    return shareRows(kernel);
  if (kernel.traversal != Traversal::Columns || kernel.rows < kMinRows)
    return std::nullopt;
  KernelLoops loops = planLoops(kernel);
  const LoopPhase *phase = onlyLoop(loops);
  if (!phase)
    return std::nullopt;
  constexpr int64_t warps = kWarpsOfSlice;
  RowSlices slices;
  slices.lanes = lanesOfPlanes(kernel, lengthsOfRows(kernel));
  while (slices.lanes > 1 &&
         sharedBytesOfSums(loops, warps, slices.lanes) > kMaxSharedBytes)
    slices.lanes /= 2;
  int64_t tiles = llvm::divideCeil(kernel.cols, kWarp * slices.lanes);
  slices.residentBlocks = residentBlocks(kernel, *phase, slices.lanes);
  int64_t wanted = std::min(kMultiprocessors * slices.residentBlocks / tiles,
                            kernel.rows / kMinRowsOfSlice);
  if (wanted < 2)
    return std::nullopt;
  slices.rows = llvm::alignTo(llvm::divideCeil(kernel.rows, wanted),
                              warps * rowsInFlight(kernel, *phase));
  slices.count = llvm::divideCeil(kernel.rows, slices.rows);
  slices.threads = warps * kWarp;
  placeSums(slices, phase->reductions, kernel.cols);
  return slices;
}

} // namespace tessera
