//===- GridEmitter.cpp - a CUDA kernel from a kernel ----------------------===//

#include "lib/Codegen/Kernels/Gpu/GridEmitter.h"
#include "lib/Codegen/Kernels/Accumulators.h"
#include "lib/Codegen/Kernels/VectorMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tessera {

GridEmitter::GridEmitter(const Kernel &kernel, GridPart part, bool hasLibm)
    : KernelEmitter(kernel), part(std::move(part)), hasLibm(hasLibm) {
  body.alignVectors = true;
  if (kernel.traversal != Traversal::Rows || this->part.role != GridRole::Total)
    return;
  // The second kernel of a kernel of rows only has the columns.
  LoopPhase total;
  total.reductions = columnReductionsOf(loops);
  loops.phases = {total};
}

/// Instructions exist for these; other functions of f64 need libm.
static bool isInstruction(Operation *op) {
  return isa<math::AbsFOp, math::CopySignOp, math::FmaOp, math::SqrtOp>(op);
}

LogicalResult GridEmitter::check() {
  func::FuncOp func = kernel.func;
  Operation *missing = nullptr;
  func.walk([&](Operation *op) {
    bool isFunction = isa_and_nonnull<math::MathDialect>(op->getDialect());
    if (isFunction && op->getResult(0).getType().isF64() && !isInstruction(op))
      missing = op;
  });
  if (missing && !hasLibm)
    return missing->emitError()
           << "computes a function in f64, which PTX does not have; use f32 or "
              "bf16, or the CPU";
  for (const LoopPhase &phase : loops.phases)
    for (const Reduction &reduction : llvm::concat<const Reduction>(
             phase.reductions, phase.columnReductions)) {
      Type type = getElementTypeOrSelf(reduction.result().getType());
      if (!type.isF32() && !type.isF64() && !type.isInteger(32))
        return reduction.op->emitError()
               << "reduces " << type << "; CUDA code reduces f32, f64 and i32";
    }
  return success();
}

LogicalResult GridEmitter::emit() {
  if (failed(check()))
    return failure();
  bindArguments();
  emitContent();
  OpBuilder builder(function.getBody().back().getTerminator());
  Value index = arith::AddIOp::create(
      builder, loc,
      arith::MulIOp::create(builder, loc, block,
                            constantI64(builder, loc, grid.threads)),
      thread);
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        index, constantI64(builder, loc, 0));
  uniform.builder = guard(builder, isFirst);
  Position position;
  position.scopes[kNone] = &uniform;
  if (part.role != GridRole::Partial)
    storeResults(kNone, position);
  function->setAttr(
      NVVM::NVVMDialect::getMaxntidAttrName(),
      builder.getDenseI32ArrayAttr({static_cast<int32_t>(grid.threads)}));
  // Says that one block of a multiprocessor is enough: with its own estimate
  // ptxas spills a few registers for an occupancy that nobody asked for.
  bool asksForMore =
      part.role == GridRole::Partial &&
      (kernel.traversal == Traversal::Rows || part.slices.residentBlocks == 4);
  function->setAttr(
      NVVM::NVVMDialect::getMinctasmAttrName(),
      builder.getI32IntegerAttr(asksForMore ? part.slices.residentBlocks : 1));
  grid.sharedBytes = shared.bytes();
  return success();
}

void GridEmitter::bindArguments() {
  func::FuncOp func = kernel.func;
  MLIRContext *context = func.getContext();
  auto isBuffer = [](Type type) { return isa<TensorType>(type); };
  size_t buffers =
      llvm::count_if(func.getArgumentTypes(), isBuffer) + kernel.results.size();
  Type pointer = LLVM::LLVMPointerType::get(context);
  createFunction(part.name, SmallVector<Type>(buffers + 2, pointer));
  function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(),
                    UnitAttr::get(context));
  OpBuilder &builder = uniform.builder;
  Type i64 = builder.getI64Type();
  Value scalars = function.getArgument(buffers);
  workspace = function.getArgument(buffers + 1);
  unsigned next = 0;
  int64_t nextScalar = 0;
  for (BlockArgument argument : func.getArguments()) {
    if (isBuffer(argument.getType())) {
      body.buffers[argument] = function.getArgument(next++);
      continue;
    }
    Value at = advance(builder, loc, scalars, i64,
                       constantI64(builder, loc, nextScalar++));
    uniform.values[argument] =
        LLVM::LoadOp::create(builder, loc, i64, at, /*alignment=*/8);
  }
  for (Value result : kernel.results) {
    resultBuffers.push_back(function.getArgument(next++));
    body.buffers.try_emplace(result, resultBuffers.back());
  }
  auto coordinate = [&](Operation *op) -> Value {
    return arith::ExtUIOp::create(builder, loc, i64, op->getResult(0));
  };
  Type i32 = builder.getI32Type();
  thread = coordinate(NVVM::ThreadIdXOp::create(builder, loc, i32));
  block = coordinate(NVVM::BlockIdXOp::create(builder, loc, i32));
  Value size = constantI64(builder, loc, kWarp);
  warp = arith::DivUIOp::create(builder, loc, thread, size);
  lane = arith::RemUIOp::create(builder, loc, thread, size);
}

OpBuilder GridEmitter::guard(OpBuilder &builder, Value condition) {
  return scf::IfOp::create(builder, loc, condition, /*withElse=*/false)
      .getThenBodyBuilder();
}

Value GridEmitter::constantTrue(OpBuilder &builder) {
  return arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true));
}

void GridEmitter::leaveToUniform(const Scope &inside) {
  OpBuilder builder = inside.builder;
  uniform.builder.setInsertionPoint(builder.getInsertionBlock()->getParentOp());
}

/// Emits one vector per thread.
void GridEmitter::emitFlat() {
  bool isPlane = llvm::any_of(kernel.results, [&](Value result) {
    return kernel.domainOf(result) == kBoth;
  });
  int64_t size = isPlane                ? kernel.rows * kernel.cols
                 : kernel.outer == kCol ? kernel.cols
                                        : kernel.rows;
  lanes = lanesOfPlanes(kernel, size);
  constexpr int64_t threads = 256;
  grid.threads = threads;
  grid.blocks = llvm::divideCeil(size / lanes, threads);
  OpBuilder &builder = uniform.builder;
  Value blockStart = arith::MulIOp::create(builder, loc, block,
                                           constantI64(builder, loc, threads));
  Value vector = arith::AddIOp::create(builder, loc, blockStart, thread);
  Value start = arith::MulIOp::create(builder, loc, vector,
                                      constantI64(builder, loc, lanes));
  Value exists = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                       start, constantI64(builder, loc, size));
  Scope scope(guard(builder, exists));
  leaveToUniform(scope);
  // Both coordinates are the linear index.
  Position position{
      {&uniform, &scope, &scope, &scope}, start, start, lanes, Value()};
  emitStep(loops.phases.front(), position, {}, Value());
}

//===----------------------------------------------------------------------===//
// The row schedule
//
// A group of threads walks a row: a warp, so that several rows share a block
// and no barrier is needed, or for long rows the whole block. A thread comes
// back to the same columns in every phase, so no other thread reads what it
// keeps for a later phase.
//===----------------------------------------------------------------------===//

/// A warp takes rows of up to this many of its vectors.
static constexpr int64_t kWarpSteps = 16;
static constexpr int64_t kWarpsPerBlock = 8;

void GridEmitter::chooseRowGroups() {
  lanes = lanesOfPlanes(kernel, lengthsOfRows(kernel));
  int64_t vectors = llvm::divideCeil(kernel.cols, lanes);
  int64_t groups = std::min(kWarpsPerBlock, kernel.rows);
  bool fits = scratchBytes(loops, kernel.cols) * groups <= kMaxSharedBytes;
  if (vectors <= kWarpSteps * kWarp && fits) {
    grid.threads = groups * kWarp;
    grid.blocks = llvm::divideCeil(kernel.rows, groups);
    return;
  }
  int64_t threads = llvm::alignTo(llvm::divideCeil(vectors, 4), kWarp);
  groupThreads = grid.threads = std::min<int64_t>(1024, threads);
  grid.blocks = kernel.rows;
}

/// Row `group` of the block has its own scratch.
void GridEmitter::allocateScratch(OpBuilder &builder, Value group) {
  int64_t groups = grid.threads / groupThreads;
  for (const LoopPhase &phase : loops.phases)
    for (Value value : phase.spills) {
      auto type = cast<RankedTensorType>(value.getType());
      int64_t bytes =
          llvm::alignTo(kernel.cols * type.getElementTypeBitWidth() / 8, 16);
      Value start = constantI64(builder, loc, shared.reserve(bytes * groups));
      Value own = arith::MulIOp::create(builder, loc, group,
                                        constantI64(builder, loc, bytes));
      body.scratch[value] = shared.pointer(
          builder, loc, arith::AddIOp::create(builder, loc, start, own));
    }
}

void GridEmitter::emitRows() {
  if (part.role == GridRole::Partial)
    return emitSharedRows();
  if (part.role == GridRole::Total)
    return emitColumns();
  chooseRowGroups();
  OpBuilder &builder = uniform.builder;
  int64_t groups = grid.threads / groupThreads;
  Value group = groupIsWarp() ? warp : constantI64(builder, loc, 0);
  allocateScratch(builder, group);
  Value first = arith::MulIOp::create(builder, loc, block,
                                      constantI64(builder, loc, groups));
  Value row = arith::AddIOp::create(builder, loc, first, group);
  // Without a rest the condition is a constant: barriers need all threads.
  Value exists =
      kernel.rows % groups == 0
          ? constantTrue(builder)
          : arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, row,
                                  constantI64(builder, loc, kernel.rows))
                .getResult();
  Scope rowScope(guard(builder, exists));
  leaveToUniform(rowScope);
  Position position{{&uniform, &rowScope, nullptr, nullptr}, row};
  for (const LoopPhase &phase : loops.phases) {
    for (linalg::GenericOp op : phase.before)
      body.emitGeneric(op, position);
    if (phase.hasLoop())
      emitRowLoop(phase, rowScope, row);
  }
  finishRow(rowScope, row);
}

void GridEmitter::finishRow(Scope &rowScope, Value row) {
  OpBuilder &last = rowScope.builder;
  // A result may lie over an argument that another thread still reads.
  if (groupIsWarp())
    NVVM::SyncWarpOp::create(last, loc, constantI32(last, loc, -1));
  else
    NVVM::Barrier0Op::create(last, loc);
  Value isFirst = arith::CmpIOp::create(last, loc, arith::CmpIPredicate::eq,
                                        member(), constantI64(last, loc, 0));
  // Values that the results still need are computed in there too.
  rowScope.builder = guard(last, isFirst);
  storeResults(kRow, {{&uniform, &rowScope, nullptr, nullptr}, row});
}

/// Returns which lanes are columns, not padding of the row; null: all.
Value GridEmitter::existing(const Position &position) {
  if (kernel.cols % lanes == 0)
    return {};
  // In 32 bits, which take one instruction per lane.
  OpBuilder &builder = position.scope(kCol).builder;
  auto type = VectorType::get({lanes}, builder.getI32Type());
  Value left = arith::SubIOp::create(
      builder, loc, constantI64(builder, loc, kernel.cols), position.column);
  left = arith::MinSIOp::create(builder, loc, left,
                                constantI64(builder, loc, lanes));
  Value count =
      arith::TruncIOp::create(builder, loc, builder.getI32Type(), left);
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                               laneNumbers(builder, loc, type),
                               body.lanesOf(count, builder, lanes));
}

void GridEmitter::emitRowLoop(const LoopPhase &phase, Scope &rowScope,
                              Value row) {
  OpBuilder builder = rowScope.builder;
  Value first = arith::MulIOp::create(builder, loc, member(),
                                      constantI64(builder, loc, lanes));
  auto loop = scf::ForOp::create(
      builder, loc, first, constantI64(builder, loc, kernel.cols),
      constantI64(builder, loc, groupThreads * lanes),
      identities(phase.reductions, lanes, builder));
  rowScope.builder.setInsertionPoint(loop);
  OpBuilder inside = OpBuilder::atBlockBegin(loop.getBody());
  Scope laneScope(inside);
  Position step{{&uniform, &rowScope, &laneScope, &laneScope},
                row,
                loop.getInductionVar(),
                lanes,
                Value()};
  LaneValues sums =
      emitStep(phase, step, loop.getRegionIterArgs(), existing(step));
  if (!sums.empty())
    scf::YieldOp::create(laneScope.builder, loc, sums);

  rowScope.builder = builder;
  finishReductions(phase, rowScope, row, loop.getResults());
}

void GridEmitter::finishReductions(const LoopPhase &phase, Scope &rowScope,
                                   Value row, ValueRange sums) {
  Position position{{&uniform, &rowScope, nullptr, nullptr}, row};
  for (auto [reduction, sum] : llvm::zip(phase.reductions, sums)) {
    OpBuilder &after = rowScope.builder;
    Value own = combineLanes(after, loc, reduction, sum, 1);
    Value all = combineGroup(after, loc, reduction, own,
                             {groupThreads / kWarp, warp, lane, shared});
    rowScope.values[reduction.result()] = withInit(reduction, all, position);
  }
}

//===----------------------------------------------------------------------===//
// The column schedule
//
// A block has a tile of columns, some neighbours per lane, and shares the rows
// among its warps. Their sums meet in shared memory and are added in the order
// of the warps. Where tiles alone do not fill a GPU, blocks also take slices of
// the rows.
//===----------------------------------------------------------------------===//

void GridEmitter::chooseColumnGrid() {
  auto tiles = [&] { return llvm::divideCeil(kernel.cols, kWarp * lanes); };
  if (part.role == GridRole::Partial) {
    lanes = part.slices.lanes;
    grid.threads = part.slices.threads;
    grid.blocks = tiles() * part.slices.count;
    return;
  }
  // With more, a thread has too few registers for long bodies.
  constexpr int64_t maxWarps = 16;
  bool isTotal = part.role == GridRole::Total;
  int64_t rows = isTotal ? part.slices.count : kernel.rows;
  int64_t warps =
      std::clamp<int64_t>(llvm::PowerOf2Ceil(rows / 8), 1, maxWarps);
  grid.threads = warps * kWarp;
  lanes = isTotal ? 1 : lanesOfPlanes(kernel, lengthsOfRows(kernel));
  while (lanes > 1 &&
         (tiles() < uint64_t(4 * kMultiprocessors) ||
          sharedBytesOfSums(loops, warps, lanes) > kMaxSharedBytes))
    lanes /= 2;
  grid.blocks = tiles();
}

std::pair<Value, Value> GridEmitter::chooseColumns(Value tile) {
  OpBuilder &builder = uniform.builder;
  auto times = [&](Value value, int64_t factor) -> Value {
    return arith::MulIOp::create(builder, loc, value,
                                 constantI64(builder, loc, factor));
  };
  Value column = arith::AddIOp::create(builder, loc, times(tile, kWarp * lanes),
                                       times(lane, lanes));
  // Without a rest the condition is a constant and folds away.
  if (kernel.cols % (kWarp * lanes) == 0)
    return {column, constantTrue(builder)};
  Value active =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, column,
                            constantI64(builder, loc, kernel.cols));
  // A lane without a column reads the first one, and stores nothing.
  column = arith::SelectOp::create(builder, loc, active, column,
                                   constantI64(builder, loc, 0));
  return {column, active};
}

void GridEmitter::emitColumns() {
  chooseColumnGrid();
  auto [column, active] = chooseColumns(tileOfBlock());
  Scope scope(guard(uniform.builder, constantTrue(uniform.builder)));
  leaveToUniform(scope);
  Position position{
      {&uniform, nullptr, &scope, nullptr}, {}, column, lanes, Value()};
  for (const LoopPhase &phase : loops.phases) {
    for (linalg::GenericOp op : phase.before)
      body.emitGeneric(op, position);
    if (!phase.hasLoop())
      continue;
    LaneValues sums = emitColumnLoop(phase, position, active);
    if (part.role == GridRole::Partial)
      return storePartialSums(phase, sums, position, active);
    for (auto [reduction, sum] : llvm::zip(phase.reductions, sums))
      scope.values[reduction.result()] = withInit(reduction, sum, position);
  }
  OpBuilder &last = scope.builder;
  // A result may lie over an argument that another warp still reads.
  NVVM::Barrier0Op::create(last, loc);
  scope.builder = guard(last, isStoring(last, active));
  storeResults(kCol, position);
}

/// Returns whether the thread stores: one warp of a block stores what all of
/// them have.
Value GridEmitter::isStoring(OpBuilder &builder, Value active) {
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        warp, constantI64(builder, loc, 0));
  return arith::AndIOp::create(builder, loc, isFirst, active);
}

LaneValues GridEmitter::emitColumnLoop(const LoopPhase &phase, Position column,
                                       Value active) {
  Scope &scope = column.scope(kCol);
  OpBuilder builder = scope.builder;
  LaneValues start = identities(phase.reductions, lanes, builder);
  SmallVector<Type> types(ValueRange(start).getTypes());
  auto branch = scf::IfOp::create(builder, loc, types, active,
                                  /*withElse=*/!start.empty());
  scope.builder.setInsertionPoint(branch);
  if (!start.empty()) {
    OpBuilder otherwise = OpBuilder::atBlockBegin(branch.elseBlock());
    scf::YieldOp::create(otherwise, loc, start);
  }
  OpBuilder then = OpBuilder::atBlockBegin(branch.thenBlock());
  auto emitGroup = [&](OpBuilder &inside, ArrayRef<Value> rows,
                       LaneValues carried) {
    return part.role == GridRole::Total
               ? addPartialSums(inside, phase, rows, column.column, carried)
               : emitRowGroup(inside, phase, rows, column, carried);
  };
  LaneValues sums = walkRows(then, rowsOfBlock(then, phase), start, emitGroup);
  if (!sums.empty())
    scf::YieldOp::create(then, loc, sums);

  scope.builder = builder;
  WarpGroup group{grid.threads / kWarp, warp, lane, shared};
  LaneValues all;
  for (auto [reduction, sum] :
       llvm::zip(phase.reductions, branch.getResults())) {
    Type element = getElementTypeOrSelf(sum.getType());
    all.push_back(combineWarps(scope.builder, loc, reduction, sum, group,
                               body.alignmentOf(element, lanes)));
  }
  return all;
}

//===----------------------------------------------------------------------===//
// The rows of a column kernel's block
//
// A warp takes a few neighbouring rows at once, so that as many loads of a
// thread are in flight before the first is used. Sums go through them in order.
//===----------------------------------------------------------------------===//

GridEmitter::SharedRows GridEmitter::rowsOfBlock(OpBuilder &builder,
                                                 const LoopPhase &phase) {
  SharedRows rows;
  rows.total = part.role == GridRole::Total ? part.slices.count : kernel.rows;
  // A step that adds partial sums has nothing else to do.
  rows.group =
      rowsInFlight(kernel, part.role == GridRole::Total ? LoopPhase() : phase);
  Value total = constantI64(builder, loc, rows.total);
  if (part.role != GridRole::Partial) {
    rows.begin = constantI64(builder, loc, 0);
    rows.end = total;
    return rows;
  }
  Value size = constantI64(builder, loc, part.slices.rows);
  rows.begin = arith::MulIOp::create(builder, loc, slice, size);
  rows.end = arith::AddIOp::create(builder, loc, rows.begin, size);
  if (rows.total % part.slices.rows != 0)
    rows.end = arith::MinSIOp::create(builder, loc, rows.end, total);
  return rows;
}

LaneValues GridEmitter::walkRows(OpBuilder &builder, const SharedRows &rows,
                                 LaneValues carried, GroupBody emitGroup) {
  int64_t group = rows.group, whole = rows.total / group * group;
  Value boundary = constantI64(builder, loc, whole);
  bool hasRest = whole < rows.total;
  if (whole > 0) {
    Value own = arith::MulIOp::create(builder, loc, warp,
                                      constantI64(builder, loc, group));
    Value first = arith::AddIOp::create(builder, loc, rows.begin, own);
    Value end = hasRest
                    ? arith::MinSIOp::create(builder, loc, rows.end, boundary)
                          .getResult()
                    : rows.end;
    carried = walkGroups(builder, first, end, group, carried, emitGroup);
  }
  if (!hasRest)
    return carried;
  Value first = arith::MaxSIOp::create(builder, loc, rows.begin, boundary);
  first = arith::AddIOp::create(builder, loc, first, warp);
  return walkGroups(builder, first, rows.end, 1, carried, emitGroup);
}

LaneValues GridEmitter::walkGroups(OpBuilder &builder, Value first, Value end,
                                   int64_t group, const LaneValues &carried,
                                   GroupBody emitGroup) {
  int64_t step = grid.threads / kWarp * group;
  auto loop = scf::ForOp::create(builder, loc, first, end,
                                 constantI64(builder, loc, step), carried);
  OpBuilder inside = OpBuilder::atBlockBegin(loop.getBody());
  SmallVector<Value> rows = {loop.getInductionVar()};
  for (int64_t i = 1; i < group; ++i)
    rows.push_back(arith::AddIOp::create(inside, loc, rows.front(),
                                         constantI64(inside, loc, i)));
  LaneValues sums =
      emitGroup(inside, rows, LaneValues(loop.getRegionIterArgs()));
  if (!sums.empty())
    scf::YieldOp::create(inside, loc, sums);
  return LaneValues(loop.getResults());
}

LaneValues GridEmitter::emitRowGroup(OpBuilder &builder, const LoopPhase &phase,
                                     ArrayRef<Value> rows,
                                     const Position &column,
                                     LaneValues carried) {
  std::vector<Scope> scopes(2 * rows.size(), Scope(builder));
  SmallVector<Position> positions;
  func::FuncOp func = kernel.func;
  for (auto [i, row] : llvm::enumerate(rows)) {
    Position &position = positions.emplace_back(column);
    position.scopes[kRow] = &scopes[2 * i];
    position.scopes[kBoth] = &scopes[2 * i + 1];
    position.row = row;
    for (BlockArgument argument : func.getArguments())
      if (phase.reads.contains(argument) && kernel.domainOf(argument) == kBoth)
        body.element(argument, position);
  }
  for (const Position &position : positions)
    evaluateStep(phase, position);
  for (const Position &position : positions)
    carried = finishStep(phase, position, carried, Value());
  return carried;
}

//===----------------------------------------------------------------------===//
// Sums along columns in two kernels
//
// The first kernel adds the rows of each slice and leaves the sums in the
// workspace, [slices, columns] for each reduction. The second adds those in the
// order of the slices and finishes the kernel.
//===----------------------------------------------------------------------===//

/// Neighbouring blocks have neighbouring columns of the same rows.
Value GridEmitter::tileOfBlock() {
  OpBuilder &builder = uniform.builder;
  if (part.role != GridRole::Partial)
    return block;
  Value tiles = constantI64(builder, loc, grid.blocks / part.slices.count);
  slice = arith::DivUIOp::create(builder, loc, block, tiles);
  return arith::RemUIOp::create(builder, loc, block, tiles);
}

Value GridEmitter::partialSum(OpBuilder &builder, unsigned number, Type element,
                              Value slice, Value column) {
  Value sums = advance(builder, loc, workspace, builder.getI8Type(),
                       constantI64(builder, loc, part.slices.offsets[number]));
  Value row = arith::MulIOp::create(builder, loc, slice,
                                    constantI64(builder, loc, kernel.cols));
  return advance(builder, loc, sums, element,
                 arith::AddIOp::create(builder, loc, row, column));
}

void GridEmitter::storePartialSums(const LoopPhase &phase,
                                   const LaneValues &sums,
                                   const Position &column, Value active) {
  OpBuilder &last = column.scope(kCol).builder;
  OpBuilder builder = guard(last, isStoring(last, active));
  for (auto [i, sum] : llvm::enumerate(sums)) {
    Type element = getElementTypeOrSelf(sum.getType());
    store(builder, loc, sum,
          partialSum(builder, i, element, slice, column.column), Value(),
          body.alignmentOf(element, lanes));
  }
}

LaneValues GridEmitter::addPartialSums(OpBuilder &builder,
                                       const LoopPhase &phase,
                                       ArrayRef<Value> slices, Value column,
                                       LaneValues carried) {
  // Slices of a group are loaded together, and added in order.
  SmallVector<LaneValues> loaded;
  for (Value slice : slices) {
    LaneValues &parts = loaded.emplace_back();
    for (auto [i, reduction] : llvm::enumerate(phase.reductions)) {
      Type element = getElementTypeOrSelf(reduction.result().getType());
      parts.push_back(loadLanes(builder, loc,
                                partialSum(builder, i, element, slice, column),
                                vectorOf(element, lanes), Value()));
    }
  }
  for (const LaneValues &parts : loaded)
    for (auto [reduction, sum, next] :
         llvm::zip(phase.reductions, carried, parts))
      sum = accumulate(builder, loc, reduction, sum, next, Value());
  return carried;
}

} // namespace tessera
