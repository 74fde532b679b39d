//===- LoopEmitter.cpp - an ABI function from a kernel --------------------===//

#include "lib/Codegen/Kernels/Cpu/LoopEmitter.h"
#include "lib/Codegen/Kernels/Accumulators.h"
#include "lib/Codegen/Kernels/VectorMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tessera/Dialect/Dist/TypingRule.h"

using namespace mlir;

namespace tessera {

LoopEmitter::LoopEmitter(const Kernel &kernel, unsigned vectorBits)
    : KernelEmitter(kernel), lanes(vectorBits / widestFloat(kernel)),
      registers(vectorBits == 512 ? 32 : 16) {}

LLVM::LLVMFuncOp LoopEmitter::emit() {
  MLIRContext *context = func::FuncOp(kernel.func).getContext();
  Type pointer = LLVM::LLVMPointerType::get(context);
  Type i64 = IntegerType::get(context, 64);
  createFunction(func::FuncOp(kernel.func).getName(),
                 {pointer, pointer, i64, i64});
  begin = function.getArgument(2);
  end = function.getArgument(3);
  bindArguments();
  emitContent();
  Position position;
  position.scopes[kNone] = &uniform;
  storeResults(kNone, position);
  return function;
}

void LoopEmitter::bindArguments() {
  func::FuncOp func = kernel.func;
  OpBuilder &builder = uniform.builder;
  Value buffers = function.getArgument(0), scalars = function.getArgument(1);
  Type pointer = buffers.getType(), i64 = builder.getI64Type();
  int64_t nextBuffer = 0, nextScalar = 0;
  auto loadNext = [&](Value from, Type type, int64_t &next) {
    Value at =
        advance(builder, loc, from, type, constantI64(builder, loc, next++));
    return LLVM::LoadOp::create(builder, loc, type, at, 8).getResult();
  };
  for (BlockArgument argument : func.getArguments()) {
    if (isa<TensorType>(argument.getType()))
      body.buffers[argument] = loadNext(buffers, pointer, nextBuffer);
    else
      uniform.values[argument] = loadNext(scalars, i64, nextScalar);
  }
  for (Value result : kernel.results) {
    resultBuffers.push_back(loadNext(buffers, pointer, nextBuffer));
    body.buffers.try_emplace(result, resultBuffers.back());
  }
  allocateScratch();
}

void LoopEmitter::allocateScratch() {
  OpBuilder &builder = uniform.builder;
  for (const LoopPhase &phase : loops.phases)
    for (Value value : phase.spills) {
      Type element = cast<RankedTensorType>(value.getType()).getElementType();
      body.scratch[value] = LLVM::AllocaOp::create(
          builder, loc, function.getArgument(0).getType(), element,
          constantI64(builder, loc, kernel.cols), /*alignment=*/64);
    }
}

void LoopEmitter::walkLanes(
    OpBuilder builder, const LaneRange &range, unsigned unroll,
    llvm::function_ref<void(OpBuilder &, const LaneBlock &)> emitBlock) {
  auto emitBody = [&](OpBuilder &inside, const LaneBlock &block, ValueRange) {
    emitBlock(inside, block);
    return LaneValues();
  };
  auto nothing = [](OpBuilder &, unsigned) { return LaneValues(); };
  auto narrow = [](OpBuilder &, ValueRange) { return LaneValues(); };
  LaneWalk(loc, lanes, unroll, {emitBody, nothing, narrow})
      .emit(builder, range);
}

/// Independent accumulators hide latency. Loops without any overlap by
/// themselves, and are faster where they store in order of address (measured:
/// layer norm 88 % of copy bandwidth against 74 % in blocks of four).
unsigned LoopEmitter::unrollOf(const LoopPhase &phase) const {
  unsigned cost = stepCost(phase.inner);
  if (phase.reductions.empty())
    return 1;
  // The number must not depend on the other ops of the kernel: they would
  // change the order of its sums.
  if (dist::chunksOf(func::FuncOp(kernel.func)))
    return 4;
  if (cost > 100)
    return 1;
  return cost > 24 ? 2 : 4;
}

//===----------------------------------------------------------------------===//
// Elementwise kernels
//
// One loop runs over [begin, end) elements, or over the elements of those rows.
//===----------------------------------------------------------------------===//

void LoopEmitter::emitFlat() {
  const LoopPhase &phase = loops.phases.front();
  OpBuilder &builder = uniform.builder;
  bool isPlane = llvm::any_of(kernel.results, [&](Value result) {
    return kernel.domainOf(result) == kBoth;
  });
  LaneRange range{begin, end, std::nullopt};
  if (isPlane) {
    Value cols = constantI64(builder, loc, kernel.cols);
    range.lo = arith::MulIOp::create(builder, loc, begin, cols);
    range.hi = arith::MulIOp::create(builder, loc, end, cols);
  }
  auto emitBlock = [&](OpBuilder &inside, const LaneBlock &block) {
    uniform.builder.setInsertionPoint(block.enclosing);
    Scope lane(inside);
    // Both coordinates are the linear index.
    Position position{{&uniform, &lane, &lane, &lane},
                      block.start,
                      block.start,
                      block.lanes,
                      block.mask};
    emitStep(phase, position, {}, Value());
  };
  walkLanes(builder, range, unrollOf(phase), emitBlock);
  uniform.builder.setInsertionPoint(function.getBody().back().getTerminator());
}

//===----------------------------------------------------------------------===//
// The row schedule
//
// For each row and each phase: the scalars of the row, then one loop over its
// columns. The results per row come last.
//===----------------------------------------------------------------------===//

void LoopEmitter::emitRows() {
  OpBuilder &builder = uniform.builder;
  Value one = constantI64(builder, loc, 1);
  auto loop = scf::ForOp::create(builder, loc, begin, end, one);
  uniform.builder.setInsertionPoint(loop);
  Scope rowScope(OpBuilder(loop.getBody()->getTerminator()));
  Value row = loop.getInductionVar();
  Position position{{&uniform, &rowScope, nullptr, nullptr}, row};
  for (const LoopPhase &phase : loops.phases) {
    for (linalg::GenericOp op : phase.before)
      body.emitGeneric(op, position);
    if (phase.hasLoop())
      emitRowLoop(phase, rowScope, row);
  }
  storeResults(kRow, position);
  uniform.builder.setInsertionPointAfter(loop);
}

void LoopEmitter::emitRowLoop(const LoopPhase &phase, Scope &rowScope,
                              Value row) {
  auto emitBlock = [&](OpBuilder &inside, const LaneBlock &block,
                       ValueRange carried) {
    return emitRowBlock(phase, rowScope, row, block, inside, carried);
  };
  auto initial = [&](OpBuilder &builder, unsigned count) {
    return identities(phase.reductions, count, builder);
  };
  auto combineTo = [&](OpBuilder &builder, ValueRange values, unsigned count) {
    LaneValues combined;
    for (auto [reduction, value] : llvm::zip(phase.reductions, values))
      combined.push_back(combineLanes(builder, loc, reduction, value, count));
    return combined;
  };
  auto narrow = [&](OpBuilder &builder, ValueRange wide) {
    return combineTo(builder, wide, lanes);
  };
  OpBuilder builder = rowScope.builder;
  LaneRange range{constantI64(builder, loc, 0), Value(), kernel.cols};
  LaneWalk walk(loc, lanes, unrollOf(phase), {emitBlock, initial, narrow});
  LaneValues sums = combineTo(builder, walk.emit(builder, range), 1);

  rowScope.builder = builder;
  Position position{{&uniform, &rowScope, nullptr, nullptr}, row};
  for (auto [reduction, sum] : llvm::zip(phase.reductions, sums))
    rowScope.values[reduction.result()] = withInit(reduction, sum, position);
}

LaneValues LoopEmitter::emitRowBlock(const LoopPhase &phase, Scope &rowScope,
                                     Value row, const LaneBlock &block,
                                     OpBuilder &builder, ValueRange carried) {
  // A masked rest has no loop around it: what is uniform comes just before.
  if (block.enclosing)
    rowScope.builder.setInsertionPoint(block.enclosing);
  else
    rowScope.builder = builder;
  Scope lane(builder);
  Position position{{&uniform, &rowScope, &lane, &lane},
                    row,
                    block.start,
                    block.lanes,
                    block.mask};
  return emitStep(phase, position, carried, block.mask);
}

//===----------------------------------------------------------------------===//
// The column schedule
//
// For each block of columns and each phase: the values of the columns, then a
// loop over all rows in order. The results per column come last.
//===----------------------------------------------------------------------===//

void LoopEmitter::emitColumns() {
  // Wide blocks read long pieces of a row; half of the registers accumulate.
  unsigned unroll = 8;
  for (const LoopPhase &phase : loops.phases) {
    bool isCheap = stepCost(phase.inner) <= 12;
    unroll = std::min(unroll, isCheap ? 8 : unrollOf(phase));
    while (unroll > 1 && unroll * phase.reductions.size() > registers / 2)
      unroll /= 2;
  }
  auto emitBlock = [&](OpBuilder &inside, const LaneBlock &block) {
    uniform.builder.setInsertionPoint(block.enclosing);
    emitColumnBlock(block, inside);
  };
  walkLanes(uniform.builder, LaneRange{begin, end, std::nullopt}, unroll,
            emitBlock);
  uniform.builder.setInsertionPoint(function.getBody().back().getTerminator());
}

void LoopEmitter::emitColumnBlock(const LaneBlock &block, OpBuilder &builder) {
  Scope column(builder);
  Position position{{&uniform, nullptr, &column, nullptr},
                    {},
                    block.start,
                    block.lanes,
                    block.mask};
  for (const LoopPhase &phase : loops.phases) {
    for (linalg::GenericOp op : phase.before)
      body.emitGeneric(op, position);
    if (phase.hasLoop())
      emitColumnLoop(phase, position);
  }
  storeResults(kCol, position);
}

void LoopEmitter::emitColumnLoop(const LoopPhase &phase, Position column) {
  Scope &scope = column.scope(kCol);
  OpBuilder builder = scope.builder;
  auto loop = scf::ForOp::create(
      builder, loc, constantI64(builder, loc, 0),
      constantI64(builder, loc, kernel.rows), constantI64(builder, loc, 1),
      identities(phase.reductions, column.lanes, builder));
  scope.builder.setInsertionPoint(loop);
  OpBuilder inside = OpBuilder::atBlockBegin(loop.getBody());
  Scope rowScope(inside), lane(inside);
  Position position = column;
  position.scopes[kRow] = &rowScope;
  position.scopes[kBoth] = &lane;
  position.row = loop.getInductionVar();
  // Lanes outside the mask are never stored, so they may hold anything.
  LaneValues sums =
      emitStep(phase, position, loop.getRegionIterArgs(), Value());
  if (!sums.empty())
    scf::YieldOp::create(inside, loc, sums);

  scope.builder.setInsertionPointAfter(loop);
  for (auto [reduction, sum] : llvm::zip(phase.reductions, loop.getResults()))
    scope.values[reduction.result()] = withInit(reduction, sum, column);
}

} // namespace tessera
