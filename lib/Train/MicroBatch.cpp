//===- MicroBatch.cpp - runs forward and backward per micro-batch ---------===//

#include "mlir/IR/IRMapping.h"
#include "tessera/Dialect/NN/Marks.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/NN/NNProgram.h"
#include "tessera/Train/Passes.h"

namespace tessera {
#define GEN_PASS_DEF_MICROBATCHPASS
#include "tessera/Train/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;

namespace {

struct MicroBatchPass : tessera::impl::MicroBatchPassBase<MicroBatchPass> {
  using MicroBatchPassBase::MicroBatchPassBase;

  void runOnOperation() override {
    FailureOr<SmallVector<func::FuncOp>> programs =
        nn::findWithOthers(getOperation(), "gradients");
    if (failed(programs))
      return signalPassFailure();
    if (count < 1) {
      programs->front().emitError()
          << "cannot run " << count.getValue()
          << " micro-batches; count must be at least 1";
      return signalPassFailure();
    }
    for (func::FuncOp func : *programs)
      if (!nn::isGeneration(func) && failed(run(func)))
        return signalPassFailure();
  }

  LogicalResult run(func::FuncOp func);
  bool isPrologue(Operation *op) const;
  bool isEpilogue(Operation *op) const;
  void findPrologue(func::FuncOp func);
  void findEpilogue(func::FuncOp func);
  LogicalResult sumTotals(func::FuncOp func);
  void findBetween(func::FuncOp func, ValueRange totals);
  SmallVector<Value> crossing(func::FuncOp func);
  void wrap(func::FuncOp func);

  /// Conversions and prefixes of parameters and tables; conversions of
  /// gradients and of the loss, and what spreads a prefix's gradient.
  SetVector<Operation *> prologue, epilogue;
  /// Ops that depend on totals over the batch alone: conversions, reciprocals.
  SetVector<Operation *> between;
};

bool isData(func::FuncOp func, Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument &&
         func.getArgAttr(argument.getArgNumber(), nn::NNDialect::kDataAttr);
}

SmallVector<Value> dataOf(func::FuncOp func) {
  SmallVector<Value> data;
  for (BlockArgument argument : func.getArguments())
    if (isData(func, argument))
      data.push_back(argument);
  return data;
}

/// Ops that make `value` out of data, in program order; an error where it
/// depends on anything else.
FailureOr<SmallVector<Operation *>> sourcesOf(func::FuncOp func, Value value) {
  SetVector<Operation *> found;
  SmallVector<Value> todo = {value};
  while (!todo.empty()) {
    Value next = todo.pop_back_val();
    if (isData(func, next))
      continue;
    Operation *op = next.getDefiningOp();
    if (!op)
      return emitError(value.getLoc())
             << "a total over the batch depends on more than data: on an "
                "argument of type "
             << next.getType();
    if (found.insert(op))
      todo.append(op->operand_begin(), op->operand_end());
  }
  SmallVector<Operation *> ops(found.getArrayRef());
  llvm::sort(ops,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return ops;
}

LogicalResult MicroBatchPass::run(func::FuncOp func) {
  prologue.clear();
  epilogue.clear();
  between.clear();
  findPrologue(func);
  findEpilogue(func);
  if (failed(sumTotals(func)))
    return failure();
  wrap(func);
  return success();
}

/// Returns whether a value is a parameter or a table, which are the same for
/// every micro-batch.
bool isFixed(func::FuncOp func, Value value) {
  return isa<BlockArgument>(value) && !isData(func, value);
}

/// Returns whether an op of the prologue stays outside of the body: stage 3 of
/// ZeRO gathers and slices parameters in the body.
bool MicroBatchPass::isPrologue(Operation *op) const {
  if (auto convert = dyn_cast<dist::ConvertOp>(op))
    return zero < 3 || convert.getKind() != dist::ConversionKind::AllGather;
  return zero < 3 && isa<nn::PrefixOp>(op);
}

/// Returns whether an op stays behind the body. From stage 2 of ZeRO on,
/// gradients are scattered in the body. Sums of a fixed order are whole before
/// those of micro-batches are added.
bool MicroBatchPass::isEpilogue(Operation *op) const {
  if (count > 1 && dist::chunksOf(op))
    return false;
  if (auto convert = dyn_cast<dist::ConvertOp>(op))
    return zero < 2 || convert.getKind() != dist::ConversionKind::ReduceScatter;
  return zero < 2 && isa<nn::PrefixGradOp>(op);
}

void MicroBatchPass::findPrologue(func::FuncOp func) {
  for (Operation &op : func.getOps()) {
    if (!isPrologue(&op))
      continue;
    Operation *source = op.getOperand(0).getDefiningOp();
    if (isFixed(func, op.getOperand(0)) ||
        (source && prologue.contains(source)))
      prologue.insert(&op);
  }
}

/// Returns whether the value has gradients of another stage in it, which are
/// sent once for all micro-batches.
static bool isFromAnotherStage(Value value) {
  if (auto sum = value.getDefiningOp<nn::AddOp>())
    return llvm::any_of(sum->getOperands(), isFromAnotherStage);
  auto convert = value.getDefiningOp<dist::ConvertOp>();
  return convert && convert.getFrom().kind == dist::State::A &&
         convert.getTo().kind == dist::State::A;
}

/// Linear ops between the body and the returned values: conversions, and sums
/// of converted gradients.
void MicroBatchPass::findEpilogue(func::FuncOp func) {
  SmallVector<Value> todo(
      func.getBody().front().getTerminator()->getOperands());
  std::function<bool(Value)> isConverted = [&](Value v) {
    auto sum = v.getDefiningOp<nn::AddOp>();
    return v.getDefiningOp<dist::ConvertOp>() ||
           (sum && llvm::all_of(sum->getOperands(), isConverted));
  };
  while (!todo.empty()) {
    Operation *op = todo.pop_back_val().getDefiningOp();
    if (!op || prologue.contains(op))
      continue;
    bool sumOfConverted = isa<nn::AddOp>(op) &&
                          (count == 1 || !dist::chunksOf(op)) &&
                          (llvm::all_of(op->getOperands(), isConverted) ||
                           isFromAnotherStage(op->getResult(0)));
    if (!isEpilogue(op) && !sumOfConverted)
      continue;
    epilogue.insert(op);
    // The last operand of a prefix's gradient lends only its shape.
    unsigned reads = isa<nn::PrefixGradOp>(op) ? 1 : op->getNumOperands();
    llvm::append_range(todo, op->getOperands().take_front(reads));
  }
}

/// Sums totals of all micro-batches in a loop of its own, before the others, as
/// backward of the first micro-batch needs them.
LogicalResult MicroBatchPass::sumTotals(func::FuncOp func) {
  SmallVector<Operation *> tagged;
  for (Operation &op : func.getOps())
    if (nn::hasTag(&op, nn::Tag::BatchTotal))
      tagged.push_back(&op);
  if (tagged.empty())
    return success();
  OpBuilder builder = OpBuilder::atBlockBegin(&func.getBody().front());
  SmallVector<Value> data = dataOf(func), yielded;
  SmallVector<Type> types;
  for (Operation *op : tagged)
    types.push_back(op->getResult(0).getType());
  auto loop = nn::MicroBatchesOp::create(
      builder, func.getLoc(), types, builder.getI64IntegerAttr(count), data);
  Block *inner = builder.createBlock(&loop.getBody());
  IRMapping mapping;
  for (Value value : data)
    mapping.map(value, inner->addArgument(value.getType(), value.getLoc()));
  for (Operation *op : tagged) {
    auto sources = sourcesOf(func, op->getResult(0));
    if (failed(sources))
      return failure();
    for (Operation *source : *sources)
      if (!mapping.contains(source->getResult(0)))
        builder.clone(*source, mapping);
    yielded.push_back(mapping.lookup(op->getResult(0)));
  }
  nn::YieldOp::create(builder, func.getLoc(), yielded);
  for (auto [op, total] : llvm::zip(tagged, loop.getResults())) {
    op->getResult(0).replaceAllUsesWith(total);
    op->erase();
  }
  prologue.insert(loop);
  findBetween(func, loop.getResults());
  return success();
}

void MicroBatchPass::findBetween(func::FuncOp func, ValueRange totals) {
  DenseSet<Value> known(totals.begin(), totals.end());
  for (Operation &op : func.getOps()) {
    bool follows = op.getNumOperands() > 0 &&
                   llvm::all_of(op.getOperands(),
                                [&](Value v) { return known.contains(v); });
    if (!follows)
      continue;
    between.insert(&op);
    epilogue.remove(&op);
    known.insert(op.result_begin(), op.result_end());
  }
}

/// Values of the body that the epilogue or the return reads, in the order of
/// the returned values that they lead to: the same on every mesh.
SmallVector<Value> MicroBatchPass::crossing(func::FuncOp func) {
  Operation *ret = func.getBody().front().getTerminator();
  SmallVector<Value> todo(llvm::reverse(ret->getOperands()));
  SetVector<Value> values;
  while (!todo.empty()) {
    Value value = todo.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!op || prologue.contains(op) || between.contains(op))
      continue;
    if (epilogue.contains(op))
      llvm::append_range(todo, llvm::reverse(op->getOperands()));
    else
      values.insert(value);
  }
  return values.takeVector();
}

/// Returns the type of all micro-batches of a data argument: a leading
/// dimension.
RankedTensorType stacked(RankedTensorType type, int64_t count) {
  SmallVector<int64_t> shape = {count};
  llvm::append_range(shape, type.getShape());
  auto result = RankedTensorType::get(shape, type.getElementType());
  auto sharding = dyn_cast_or_null<dist::ShardingAttr>(type.getEncoding());
  if (!sharding)
    return result;
  for (const dist::AxisState &s : sharding.getStates()) {
    dist::State state = s.state;
    state.where += state.isSharded();
    result = dist::withState(result, s.axis, state);
  }
  return result;
}

void MicroBatchPass::wrap(func::FuncOp func) {
  Block &block = func.getBody().front();
  Operation *ret = block.getTerminator();
  SmallVector<Operation *> body;
  for (Operation &op : block.without_terminator())
    if (!prologue.contains(&op) && !epilogue.contains(&op) &&
        !between.contains(&op))
      body.push_back(&op);
  SmallVector<Value> yielded = crossing(func), data = dataOf(func);
  OpBuilder builder(ret);
  auto loop = nn::MicroBatchesOp::create(
      builder, func.getLoc(), TypeRange(ValueRange(yielded)),
      builder.getI64IntegerAttr(count), data);
  Block *inner = builder.createBlock(&loop.getBody());
  for (Value value : data) {
    Value slice = inner->addArgument(value.getType(), value.getLoc());
    value.replaceUsesWithIf(slice, [](OpOperand &use) {
      return !isa<nn::MicroBatchesOp>(use.getOwner());
    });
    value.setType(stacked(cast<RankedTensorType>(value.getType()), count));
  }
  for (Operation *op : body)
    op->moveBefore(inner, inner->end());
  builder.setInsertionPointToEnd(inner);
  nn::YieldOp::create(builder, func.getLoc(), yielded);
  for (auto [value, result] : llvm::zip(yielded, loop.getResults()))
    value.replaceUsesWithIf(result, [&](OpOperand &use) {
      return use.getOwner()->getBlock() == &block;
    });
  for (Operation *op : llvm::reverse(prologue.getArrayRef()))
    op->moveBefore(&block, block.begin());
  SmallVector<Operation *> after;
  for (Operation &op : block.without_terminator())
    if (epilogue.contains(&op))
      after.push_back(&op);
  for (Operation *op : after)
    op->moveBefore(ret);
  func.setType(FunctionType::get(&getContext(), block.getArgumentTypes(),
                                 ret->getOperandTypes()));
}

} // namespace
