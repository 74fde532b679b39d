//===- CheckMemory.cpp - every read sees what was written -----------------===//
// Executes the program on an abstract arena that knows, for every byte, which
// value was written there last. It needs no lifetimes: an overlap that matters
// is a read of another value's bytes.
//===----------------------------------------------------------------------===//

#include "lib/Memory/AbstractArena.h"
#include "lib/Memory/CheckTasks.h"
#include "lib/Memory/MemoryRules.h"
#include "lib/Memory/PendingCollectives.h"
#include "mlir/IR/Threading.h"
#include "tessera/Dialect/NN/NNProgram.h"
#include "tessera/Dialect/RT/RTProgram.h"
#include "tessera/Dialect/RT/RowLayout.h"
#include "tessera/Memory/Passes.h"
#include "llvm/ADT/TypeSwitch.h"

namespace tessera {
#define GEN_PASS_DEF_CHECKMEMORYPASS
#include "tessera/Memory/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;
using namespace tessera::rt;

namespace {

/// The bytes that a value occupies and what must be in them.
struct Held {
  ByteRange bytes;
  int64_t content;
};

class Checker {
public:
  Checker(func::FuncOp func, int64_t arenaBytes)
      : func(func), arenaBytes(arenaBytes), symbols(func->getParentOp()) {}

  LogicalResult run();
  /// Requires that values of another program stay, too, if this program has no
  /// argument of its own in their place: moments during an evaluation, caches
  /// during a step.
  void keepArgumentsOf(func::FuncOp other);

private:
  LogicalResult visit(Operation *op);
  LogicalResult visitBlock(Block &block);
  LogicalResult visitCall(RuntimeCallOpInterface call);
  LogicalResult visitView(ViewOp view);
  LogicalResult visitConcat(ConcatOp concat);
  LogicalResult visitLoop(LoopOp loop);
  LogicalResult visitReturn();
  LogicalResult checkPending(RuntimeCallOpInterface call);
  void start(AsyncOpInterface op);

  LogicalResult read(OpOperand &operand);
  LogicalResult write(Operation *op, Value value);
  LogicalResult checkApart(RuntimeCallOpInterface call, OpResult result);
  bool mayOverlap(RuntimeCallOpInterface call, OpOperand &operand,
                  OpResult result);
  LogicalResult expectOffset(Operation *op, Value value, int64_t offset,
                             StringRef what);
  ByteRange bytesOfValue(Value value);
  int64_t contentFor(Value value);
  int64_t contentOf(ConcatOp concat);
  void adopt(ConcatOp concat, Value part);
  void share(Value value, Value other);

  func::FuncOp func;
  int64_t arenaBytes;
  SymbolTable symbols;
  AbstractArena arena;
  llvm::DenseMap<Value, Held> held;
  llvm::DenseMap<Operation *, int64_t>
      concats; ///< Content of concats being built.
  llvm::SetVector<Value> kept;
  /// Arguments of other programs.
  SmallVector<std::pair<BlockArgument, Held>> others;
  PendingCollectives pending;
  int64_t contents = 0;
};

ByteRange Checker::bytesOfValue(Value value) {
  int64_t begin = *offsetOf(value);
  return {begin, begin + layoutOf(value).span() * elementBytesOf(value)};
}

LogicalResult Checker::expectOffset(Operation *op, Value value, int64_t offset,
                                    StringRef what) {
  if (*offsetOf(value) == offset)
    return success();
  return op->emitError() << what << " lies at byte " << *offsetOf(value)
                         << ", it must lie at byte " << offset;
}

/// Parts of a concatenation share one content: together they are the joined
/// value.
int64_t Checker::contentFor(Value value) {
  for (OpOperand &use : value.getUses()) {
    auto concat = dyn_cast<ConcatOp>(use.getOwner());
    if (!concat || concat->getBlock() != value.getParentBlock())
      continue;
    return contentOf(concat);
  }
  return ++contents;
}

int64_t Checker::contentOf(ConcatOp concat) {
  int64_t &content = concats[concat];
  if (content == 0)
    content = ++contents;
  return content;
}

LogicalResult Checker::write(Operation *op, Value value) {
  ByteRange bytes = bytesOfValue(value);
  bool isInArena = bytes.begin >= 0 && bytes.end <= arenaBytes;
  if (!isInArena &&
      (frameOf(bytes.begin) < 1 || frameOf(bytes.begin) > countFrames(func)))
    return op->emitError() << "writes bytes " << bytes.str()
                           << " of an arena of " << arenaBytes << " bytes";
  held[value] = {bytes, contentFor(value)};
  arena.write(bytes, held[value].content, op);
  return success();
}

LogicalResult Checker::read(OpOperand &operand) {
  if (!isa<RankedTensorType>(operand.get().getType()))
    return success();
  Held expected = held.at(operand.get());
  const AbstractArena::Entry *other =
      arena.findOther(expected.bytes, expected.content);
  if (!other)
    return success();
  InFlightDiagnostic error = operand.getOwner()->emitError()
                             << "operand #" << operand.getOperandNumber()
                             << " at bytes " << expected.bytes.str()
                             << " no longer holds its value";
  if (other->writer)
    error.attachNote(other->writer->getLoc())
        << "bytes " << other->bytes.str() << " are written here";
  return error;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

bool Checker::mayOverlap(RuntimeCallOpInterface call, OpOperand &operand,
                         OpResult result) {
  if (call.getTiedOperand(result.getResultNumber()) == &operand)
    return true;
  auto launch = dyn_cast<LaunchOp>(call.getOperation());
  auto kernel = launch ? symbols.lookup<func::FuncOp>(launch.getKernel())
                       : func::FuncOp();
  return kernel && operand.get().getType() == result.getType() &&
         offsetOf(operand.get()) == offsetOf(result) &&
         rt::mayShare(kernel, operand.getOperandNumber(),
                      result.getResultNumber());
}

/// Checks that the bytes that an op writes do not overlap those that it reads,
/// nor its other results.
LogicalResult Checker::checkApart(RuntimeCallOpInterface call,
                                  OpResult result) {
  ByteRange bytes = bytesOfValue(result);
  for (OpOperand &operand : call->getOpOperands()) {
    if (!isa<RankedTensorType>(operand.get().getType()))
      continue;
    bool moves = operand.get().getDefiningOp<ViewOp>() != nullptr;
    ByteRange source =
        moves ? held.at(operand.get()).bytes : bytesOfValue(operand.get());
    if (bytes.overlaps(source) && !mayOverlap(call, operand, result))
      return call->emitError()
             << "result #" << result.getResultNumber() << " at bytes "
             << bytes.str() << " overlaps operand #"
             << operand.getOperandNumber() << " at bytes " << source.str();
  }
  for (OpResult other : call->getResults())
    if (other.getResultNumber() < result.getResultNumber() &&
        bytes.overlaps(held.at(other).bytes) &&
        held.at(other).content != contentFor(result))
      return call->emitError()
             << "results #" << other.getResultNumber() << " and #"
             << result.getResultNumber() << " overlap";
  return success();
}

LogicalResult Checker::checkPending(RuntimeCallOpInterface call) {
  if (auto wait = dyn_cast<WaitOp>(call.getOperation());
      wait && failed(pending.finish(wait)))
    return failure();
  for (Value operand : call->getOperands())
    if (isa<RankedTensorType>(operand.getType()) &&
        failed(pending.checkRead(call, held.at(operand).bytes)))
      return failure();
  for (Value result : call->getResults())
    if (failed(pending.checkWrite(call, bytesOfValue(result))))
      return failure();
  return success();
}

/// Starts a call; its in-place operands are written, not read.
void Checker::start(AsyncOpInterface op) {
  auto call = cast<RuntimeCallOpInterface>(op.getOperation());
  SmallVector<ByteRange> reads, writes;
  llvm::SmallPtrSet<OpOperand *, 2> tied;
  for (OpResult result : op->getResults()) {
    writes.push_back(bytesOfValue(result));
    tied.insert(call.getTiedOperand(result.getResultNumber()));
  }
  for (OpOperand &operand : op->getOpOperands())
    if (isa<RankedTensorType>(operand.get().getType()) &&
        !tied.contains(&operand))
      reads.push_back(held.at(operand.get()).bytes);
  pending.start(op, reads, writes);
}

LogicalResult Checker::visitCall(RuntimeCallOpInterface call) {
  if (failed(checkPending(call)))
    return failure();
  for (OpOperand &operand : call->getOpOperands())
    if (failed(read(operand)))
      return failure();
  for (OpResult result : call->getResults()) {
    OpOperand *tied = call.getTiedOperand(result.getResultNumber());
    if (tied && failed(expectOffset(call, result, *offsetOf(tied->get()),
                                    "a result written in place")))
      return failure();
    if (failed(checkApart(call, result)) || failed(write(call, result)))
      return failure();
    if (resultEntry(result, RTDialect::kKeepAttr))
      kept.insert(result);
  }
  if (auto started = dyn_cast<AsyncOpInterface>(call.getOperation());
      started && started.getAsync())
    start(started);
  return success();
}

/// `value` is another name of what `other` holds. The map may grow before it is
/// read, so that a reference into it would dangle.
void Checker::share(Value value, Value other) {
  Held same = held.at(other);
  held[value] = same;
}

LogicalResult Checker::visitView(ViewOp view) {
  Value source = view.getSource(), result = view.getResult();
  int64_t begin = view.getOffset(), end = begin + layoutOf(result).span();
  int64_t size = layoutOf(source).span();
  if (begin < 0 || end > size)
    return view.emitError() << "covers elements [" << begin << ", " << end
                            << ") of a tensor of " << size << " elements";
  share(result, source);
  return expectOffset(view, result,
                      *offsetOf(source) + begin * elementBytesOf(result),
                      "a view");
}

/// A part that a loop made had other contents in each iteration; from here on
/// its bytes are the concatenation's.
void Checker::adopt(ConcatOp concat, Value part) {
  int64_t content = contentOf(concat);
  Held &own = held[part];
  if (own.content == content)
    return;
  own.content = content;
  arena.write(own.bytes, content, concat);
}

LogicalResult Checker::visitConcat(ConcatOp concat) {
  ByteRange bytes = bytesOfValue(concat.getResult());
  for (OpOperand &part : concat->getOpOperands()) {
    int64_t offset = concat.getPartOffsets()[part.getOperandNumber()];
    if (failed(expectOffset(concat, part.get(),
                            bytes.begin + offset * elementBytesOf(part.get()),
                            "a part of a concatenation")) ||
        failed(read(part)))
      return failure();
    adopt(concat, part.get());
  }
  int64_t content = concats.lookup(concat);
  held[concat.getResult()] = {bytes, content};
  concats.erase(concat);
  if (arena.findOther(bytes, content))
    return concat.emitError()
           << "has bytes in " << bytes.str() << " that no part writes";
  return success();
}

LogicalResult Checker::visitLoop(LoopOp loop) {
  Block &body = loop.getBody().front();
  auto arguments = body.getArguments().drop_front();
  for (auto [init, argument] : llvm::zip(loop.getInitsMutable(), arguments)) {
    if (failed(read(init)) ||
        failed(expectOffset(loop, argument, *offsetOf(init.get()),
                            "a value that the loop carries")))
      return failure();
    share(argument, init.get());
  }
  for (int iteration = 0; iteration < 2; ++iteration) {
    if (failed(visitBlock(body)))
      return failure();
    for (auto [next, argument] :
         llvm::zip(body.getTerminator()->getOpOperands(), arguments)) {
      if (failed(read(next)) ||
          failed(expectOffset(body.getTerminator(), next.get(),
                              *offsetOf(argument), "the next value")))
        return failure();
      share(argument, next.get());
    }
  }
  for (auto [argument, result] : llvm::zip(arguments, loop.getResults()))
    share(result, argument);
  return success();
}

LogicalResult Checker::visit(Operation *op) {
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](ViewOp view) { return visitView(view); })
      .Case([&](ConcatOp concat) { return visitConcat(concat); })
      .Case([&](LoopOp loop) { return visitLoop(loop); })
      .Case([&](RuntimeCallOpInterface call) { return visitCall(call); })
      .Default([](Operation *) { return success(); });
}

LogicalResult Checker::visitBlock(Block &block) {
  for (Operation &op : block.without_terminator()) {
    for (Value result : op.getResults())
      if (isa<RankedTensorType>(result.getType()) && !offsetOf(result))
        return op.emitError() << "has no offset; run rt-plan-memory first";
    if (failed(visit(&op)))
      return failure();
  }
  return pending.checkNoneIn(block);
}

/// Updates must have replaced their arguments; what is kept must still be
/// there, and so must arguments without update.
LogicalResult Checker::visitReturn() {
  Operation *ret = func.getBody().front().getTerminator();
  SmallVector<BlockArgument> homes = updatedArguments(func);
  llvm::DenseSet<Value> updated;
  for (OpOperand &operand : ret->getOpOperands()) {
    if (failed(read(operand)))
      return failure();
    BlockArgument home = homes[operand.getOperandNumber()];
    if (!home)
      continue;
    updated.insert(home);
    if (failed(expectOffset(ret, operand.get(), *offsetOf(home),
                            "an updated argument")))
      return failure();
  }
  for (BlockArgument argument : func.getArguments())
    if (!updated.contains(argument))
      kept.insert(argument);
  for (Value value : kept)
    if (arena.findOther(held.at(value).bytes, held.at(value).content))
      return emitError(value.getLoc())
             << "is kept at bytes " << held.at(value).bytes.str()
             << " but is overwritten";
  for (auto [argument, bytes] : others)
    if (arena.findOther(bytes.bytes, bytes.content))
      return emitError(argument.getLoc())
             << "lies at bytes " << bytes.bytes.str()
             << " but is overwritten by @" << func.getName();
  return success();
}

void Checker::keepArgumentsOf(func::FuncOp other) {
  llvm::DenseSet<int64_t> known;
  for (BlockArgument argument : func.getArguments())
    known.insert(offsetOf(argument).value_or(-1));
  for (const auto &[argument, bytes] : others)
    known.insert(*offsetOf(argument));
  for (BlockArgument argument : other.getArguments()) {
    std::optional<int64_t> begin = offsetOf(argument);
    if (!begin || !known.insert(*begin).second)
      continue;
    Held bytes = {bytesOfValue(argument), ++contents};
    arena.write(bytes.bytes, bytes.content, other);
    others.push_back({argument, bytes});
  }
}

LogicalResult Checker::run() {
  for (BlockArgument argument : func.getArguments()) {
    if (!offsetOf(argument))
      return func.emitError() << "argument #" << argument.getArgNumber()
                              << " has no offset; run rt-plan-memory first";
    if (arena.findOther(bytesOfValue(argument), 0))
      return func.emitError()
             << "argument #" << argument.getArgNumber() << " overlaps another";
    if (failed(write(func, argument)))
      return failure();
  }
  if (failed(visitBlock(func.getBody().front())))
    return failure();
  return visitReturn();
}

struct CheckMemoryPass : tessera::impl::CheckMemoryPassBase<CheckMemoryPass> {
  using CheckMemoryPassBase::CheckMemoryPassBase;

  void runOnOperation() override {
    FailureOr<SmallVector<func::FuncOp>> programs =
        findPrograms(getOperation());
    if (failed(programs))
      return signalPassFailure();
    SmallVector<SmallVector<func::FuncOp>> groups =
        nn::groupPrograms(*programs);
    for (ArrayRef<func::FuncOp> group : groups)
      if (failed(failableParallelForEachN(
              &getContext(), 0, group.size(), [&](size_t k) {
                return check(group[k], programsOfStage(groups, k));
              })))
        return signalPassFailure();
    markAllAnalysesPreserved();
  }

  /// Checks a program; `all` are the programs of its stage.
  static LogicalResult check(func::FuncOp program, ArrayRef<func::FuncOp> all) {
    auto bytes =
        arenaOwner(program)->getAttrOfType<IntegerAttr>(RTDialect::kArenaAttr);
    if (!bytes)
      return program.emitError() << "has no arena; run rt-plan-memory first";
    FailureOr<std::optional<TaskOrder>> order = TaskOrder::of(program);
    if (failed(order))
      return failure();
    Checker checker(program, bytes.getInt());
    for (func::FuncOp other : all)
      if (other != program)
        checker.keepArgumentsOf(other);
    if (failed(checker.run()))
      return failure();
    return *order ? TaskChecker(program, **order, bytes.getInt()).run()
                  : success();
  }
};

} // namespace
