//===- StageBuilder.cpp - the program of one pipeline stage ---------------===//

#include "lib/Partition/StageBuilder.h"
#include "tessera/Dialect/Dist/Chunks.h"
#include "tessera/Dialect/NN/Marks.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/RT/RTProgram.h"
#include "tessera/Dialect/RT/TaskOrder.h"
#include "tessera/Options/MeshAxis.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::dist;

StageBuilder::StageBuilder(StagedStep &staged, int64_t stage)
    : staged(staged), stage(stage), builder(staged.step.getContext()) {}

static State stageState(Type type) { return stateOf(type, kPipelineAxis); }

/// A stage's program says nothing of stages any more.
RankedTensorType tessera::stageless(Type type) {
  return withState(cast<RankedTensorType>(type), kPipelineAxis, {State::I});
}

void tessera::forgetStages(Operation *op) {
  op->removeAttr(DistDialect::kChunkAttr);
  for (Value result : op->getResults())
    result.setType(stageless(result.getType()));
}

bool StageBuilder::isHere(Type type) const {
  State state = stageState(type);
  return state.kind != State::A || state.where == stage;
}

LogicalResult StageBuilder::build() {
  createFunction();
  for (Operation &op : staged.step.getBody().front()) {
    if (auto ret = dyn_cast<func::ReturnOp>(op))
      emitReturn(ret);
    else if (&op == staged.loop)
      emitLoop();
    else if (auto totals = dyn_cast<nn::MicroBatchesOp>(op))
      emitTotals(totals);
    else if (failed(emitOutside(&op)))
      return failure();
  }
  removeUnusedData();
  return success();
}

void StageBuilder::createFunction() {
  func::FuncOp step = staged.step;
  builder.setInsertionPoint(step);
  func =
      func::FuncOp::create(builder, step.getLoc(),
                           step.getName().str() + "_" + std::to_string(stage),
                           builder.getFunctionType({}, {}));
  func->setDiscardableAttrs(step->getDiscardableAttrDictionary());
  func->setAttr(rt::RTDialect::kStageAttr, builder.getI64IntegerAttr(stage));
  Block *block = func.addEntryBlock();
  SmallVector<DictionaryAttr> attrs;
  for (BlockArgument argument : step.getArguments()) {
    if (!isHere(argument.getType()))
      continue;
    outer.map(argument, block->addArgument(stageless(argument.getType()),
                                           argument.getLoc()));
    DictionaryAttr dictionary = step.getArgAttrDict(argument.getArgNumber());
    attrs.push_back(dictionary ? dictionary : builder.getDictionaryAttr({}));
  }
  func.setType(builder.getFunctionType(block->getArgumentTypes(), {}));
  func.setAllArgAttrs(attrs);
  builder.setInsertionPointToEnd(block);
}

/// Ids that only the first stage reads, labels that only the last one does,
/// tables that only layers read.
void StageBuilder::removeUnusedData() {
  for (unsigned k = func.getNumArguments(); k-- > 0;)
    if (func.getArgument(k).use_empty() &&
        (func.getArgAttr(k, nn::NNDialect::kDataAttr) ||
         func.getArgAttr(k, nn::NNDialect::kTableAttr)))
      (void)func.eraseArgument(k);
}

//===----------------------------------------------------------------------===//
// Outside of the micro-batch loop
//===----------------------------------------------------------------------===//

Value StageBuilder::outside(Value value) {
  if (Value known = outer.lookupOrNull(value))
    return known;
  assert(zeros.contains(value) && "typing: only partial values can be 0 here");
  Value zero =
      rt::ZeroOp::create(builder, value.getLoc(), stageless(value.getType()));
  outer.map(value, zero);
  return zero;
}

Operation *StageBuilder::clone(Operation *op) {
  for (Value operand : op->getOperands())
    outside(operand);
  Operation *copy = builder.clone(*op, outer);
  forgetStages(copy);
  return copy;
}

LogicalResult StageBuilder::emitOutside(Operation *op) {
  auto convert = dyn_cast<ConvertOp>(op);
  if (convert && convert.getAxis() == kPipelineAxis)
    return emitConversion(convert);
  if (op->getNumResults() == 0 || !isHere(op->getResult(0).getType()))
    return success();
  if (stageState(op->getResult(0).getType()).kind == State::P)
    emitPartial(op);
  else
    clone(op);
  return success();
}

/// Returns whether a value is a parameter, or a conversion of one.
static bool isHeld(Value value) {
  while (auto convert = value.getDefiningOp<ConvertOp>())
    value = convert.getInput();
  return isa<BlockArgument>(value);
}

LogicalResult StageBuilder::emitConversion(ConvertOp op) {
  State from = op.getFrom(), to = op.getTo();
  Value input = op.getInput(), output = op.getOutput();
  bool comes = from.kind == State::A && from.where == stage;
  bool goes = to.kind == State::A && to.where == stage;
  if (from.kind == State::A && to.kind == State::A) {
    Message message = emitMessage(
        op, [&] { return outside(input); },
        !nn::isForward(op) ? kGradientMessage
        : isHeld(input)    ? kParameterMessage
                           : kActivationMessage);
    if (goes)
      outer.map(output, message.receive.getResult());
    return success();
  }
  if (from.kind == State::A && to.kind == State::I) {
    auto copy = rt::BroadcastOp::create(
        builder, op.getLoc(), stageless(output.getType()),
        comes ? outside(input) : Value(), builder.getI64IntegerAttr(from.where),
        builder.getStrArrayAttr({op.getAxis()}));
    copy->setAttr("reason", builder.getStringAttr("result of one stage"));
    outer.map(output, copy.getResult());
    return success();
  }
  if (to.kind == State::A)
    return goes ? (outer.map(output, outside(input)), success()) : success();
  if (to.kind == State::P) { // one stage has the value, the others 0
    bool mine = from.kind == State::A ? comes : stage == 0;
    if (mine)
      outer.map(output, outside(input));
    else
      zeros.insert(output);
    return success();
  }
  if (from.kind == State::P && to.kind == State::I) {
    outer.map(output, reduce(op));
    return success();
  }
  if (from.kind == State::I || from.kind == State::R)
    return outer.map(output, outside(input)), success();
  return op.emitOpError() << "cannot be run by stages";
}

SmallVector<Operation *, 2> StageBuilder::Message::ends() {
  SmallVector<Operation *, 2> ends;
  if (send)
    ends.push_back(send);
  if (receive)
    ends.push_back(receive);
  return ends;
}

/// The end of A(s) -> A(t) that is here, if any.
StageBuilder::Message
StageBuilder::emitMessage(ConvertOp op, llvm::function_ref<Value()> input,
                          StringRef reason) {
  int64_t from = op.getFrom().where, to = op.getTo().where;
  Message message;
  if (from == stage)
    message.send =
        rt::SendOp::create(builder, op.getLoc(), input(),
                           builder.getI64IntegerAttr(to), op.getAxisAttr());
  if (to == stage)
    message.receive = rt::ReceiveOp::create(
        builder, op.getLoc(), stageless(op.getType()),
        builder.getI64IntegerAttr(from), op.getAxisAttr());
  for (Operation *end : message.ends()) {
    nn::inheritPhase(end, op);
    end->setAttr("reason", builder.getStringAttr(reason));
  }
  return message;
}

/// A reduction also runs at stages that have nothing to add: they wait for the
/// others.
Value StageBuilder::reduce(ConvertOp op) {
  Value input = outside(op.getInput());
  auto sum = rt::AllReduceOp::create(
      builder, op.getLoc(), input.getType(), input,
      builder.getStrArrayAttr({op.getAxis()}), builder.getBoolAttr(false));
  sum->setAttr("reason", builder.getStringAttr("sum of scalars of the stages"));
  nn::inheritPhase(sum, op);
  return sum;
}

/// An op is linear in its partial operands: of zeros it makes 0.
void StageBuilder::emitPartial(Operation *op) {
  bool isZero = true;
  for (Value operand : op->getOperands())
    isZero &= stageState(operand.getType()).kind != State::P ||
              zeros.contains(operand);
  if (isZero) {
    zeros.insert(op->result_begin(), op->result_end());
    return;
  }
  auto sum = dyn_cast<nn::AddOp>(op);
  if (!sum || !emitSum(sum))
    clone(op);
}

/// Verify compares what the last micro-batch adds, and this adds for all.
bool StageBuilder::sumsMicroBatches(nn::AddOp op) const {
  auto isSum = [&](Value term) {
    while (auto convert = term.getDefiningOp<ConvertOp>())
      term = convert.getInput();
    return term.getDefiningOp() == staged.loop;
  };
  return staged.schedule.shape.microBatches > 1 &&
         llvm::any_of(op.getInputs(), isSum);
}

/// add(x, 0) -> x: terms of other stages are left out. False where the rest
/// would have another shape. A value that verify compares stays one.
bool StageBuilder::emitSum(nn::AddOp op) {
  Signature sig = Signature::parse(op.getSpec());
  SmallVector<Value> terms;
  SmallVector<double> coefs;
  std::string spec, covered;
  for (auto [k, term] : llvm::enumerate(op.getInputs())) {
    if (zeros.contains(term))
      continue;
    terms.push_back(outside(term));
    coefs.push_back(op.getCoefs() ? (*op.getCoefs())[k] : 1.0);
    spec += (terms.size() == 1 ? "" : ",") + sig.ins[k];
    covered += sig.ins[k];
  }
  for (char factor : sig.out)
    if (covered.find(factor) == std::string::npos)
      return false;
  bool isKept = op->hasAttr(rt::RTDialect::kKeepAttr) && !sumsMicroBatches(op);
  if (terms.size() == 1 && coefs[0] == 1.0 && spec == sig.out && !isKept) {
    outer.map(op.getOutput(), terms[0]);
    return true;
  }
  auto copy = nn::create<nn::AddOp>(
      builder, op.getLoc(), builder.getStringAttr(spec + "->" + sig.out), terms,
      op.getCoefs() ? builder.getDenseF64ArrayAttr(coefs)
                    : DenseF64ArrayAttr());
  copy->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  if (!isKept)
    copy->removeAttr(rt::RTDialect::kKeepAttr);
  outer.map(op.getOutput(), copy.getOutput());
  return true;
}

void StageBuilder::emitReturn(func::ReturnOp ret) {
  SmallVector<Value> values;
  SmallVector<DictionaryAttr> attrs;
  func::FuncOp step = staged.step;
  for (auto [k, value] : llvm::enumerate(ret.getOperands())) {
    if (!isHere(value.getType()))
      continue;
    values.push_back(outside(value));
    DictionaryAttr dictionary = step.getResultAttrDict(k);
    attrs.push_back(dictionary ? dictionary : builder.getDictionaryAttr({}));
  }
  func::ReturnOp::create(builder, ret.getLoc(), values);
  func.setType(builder.getFunctionType(func.getArgumentTypes(),
                                       TypeRange(ValueRange(values))));
  func.setAllResultAttrs(attrs);
}

//===----------------------------------------------------------------------===//
// Micro-batches
//===----------------------------------------------------------------------===//

void StageBuilder::emitLoop() {
  SmallVector<unsigned> totals;
  for (Value total : staged.loop.getResults())
    if (stageState(total.getType()) == State{State::A, stage})
      totals.push_back(cast<OpResult>(total).getResultNumber());
  nn::MicroBatchesOp loop = startLoop(totals);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(&loop.getBody().front());
    emitEvents();
    endLoop(loop, totals);
  }
  for (auto [total, result] : llvm::zip(totals, loop.getResults()))
    outer.map(staged.loop.getResult(total), result);
}

/// A loop over the stage's data, with an empty body.
nn::MicroBatchesOp StageBuilder::startLoop(ArrayRef<unsigned> totals) {
  SmallVector<Type> types;
  for (unsigned total : totals)
    types.push_back(stageless(staged.loop.getResult(total).getType()));
  SmallVector<Value> data;
  for (Value value : staged.loop.getData())
    data.push_back(outside(value));
  auto loop = nn::MicroBatchesOp::create(builder, staged.loop.getLoc(), types,
                                         staged.loop.getCountAttr(), data);
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(&loop.getBody());
  for (BlockArgument part : staged.loop.getBody().getArguments())
    body.map(part,
             block->addArgument(stageless(part.getType()), part.getLoc()));
  return loop;
}

/// Data that no task of the stage reads is left out.
void StageBuilder::endLoop(nn::MicroBatchesOp loop, ArrayRef<unsigned> totals) {
  Block &from = staged.loop.getBody().front(), &to = loop.getBody().front();
  SmallVector<Value> yielded;
  for (unsigned total : totals)
    yielded.push_back(inside(from.getTerminator()->getOperand(total)));
  nn::YieldOp::create(builder, loop.getLoc(), yielded);
  for (unsigned k = to.getNumArguments(); k-- > 0;)
    if (to.getArgument(k).use_empty()) {
      to.eraseArgument(k);
      loop.getDataMutable().erase(k);
    }
}

/// Emits the tasks of a micro-batch in the order in which they run, which is
/// the same for each, and the order in which those of all run.
void StageBuilder::emitEvents() {
  using Key = std::tuple<bool, pipeline::TaskKind, int64_t>;
  std::map<Key, int64_t> numbers;
  SmallVector<rt::NumberedTask> order;
  for (const StepEvent *each : staged.eventsOfStage[stage]) {
    const StepEvent &event = *each;
    Key key = {event.isTask, event.task.kind,
               event.isTask ? event.task.chunk : event.transfer->number};
    auto [known, isNew] = numbers.try_emplace(key, numbers.size());
    order.push_back({known->second, event.task.microBatch});
    if (!isNew)
      continue;
    std::string name =
        event.isTask ? pipeline::taskKindName(event.task.kind) +
                           std::to_string(event.task.chunk)
                     : "message " + std::to_string(event.transfer->number);
    rt::TaskOp::create(builder, staged.loop.getLoc(), known->second, name);
    if (event.isTask)
      emitTask(event);
    else
      emitTransfer(event);
  }
  rt::setOrder(func, order);
}

void StageBuilder::emitTask(const StepEvent &event) {
  for (Operation *op : staged.parts[{event.task.kind, event.task.chunk}])
    cloneInside(op);
}

void StageBuilder::emitTransfer(const StepEvent &event) {
  ConvertOp op = event.transfer->op;
  Message message = emitMessage(
      op, [&] { return inside(op.getInput()); },
      nn::isForward(op) ? kActivationMessage : "gradient for an earlier stage");
  for (Operation *end : message.ends())
    end->setAttr(rt::kMessageAttr, builder.getStringAttr(llvm::formatv(
                                       "value {0}", event.transfer->number)));
  if (message.receive)
    body.map(op.getOutput(), message.receive.getResult());
}

/// Data, constants and their conversions belong to no task: they are made
/// where they are first used.
Value StageBuilder::inside(Value value) {
  if (Value known = body.lookupOrNull(value))
    return known;
  Operation *made = value.getDefiningOp();
  if (value.getParentBlock() != &staged.loop.getBody().front())
    return outside(value);
  auto convert = dyn_cast<ConvertOp>(made);
  if (convert && convert.getAxis() == kPipelineAxis)
    body.map(value, inside(convert.getInput()));
  else
    cloneInside(made);
  return body.lookup(value);
}

Operation *StageBuilder::cloneInside(Operation *op) {
  IRMapping operands;
  for (Value operand : op->getOperands())
    operands.map(operand, inside(operand));
  Operation *copy = builder.clone(*op, operands);
  forgetStages(copy);
  for (auto [from, to] : llvm::zip(op->getResults(), copy->getResults()))
    body.map(from, to);
  return copy;
}

//===----------------------------------------------------------------------===//
// Totals over the batch
//===----------------------------------------------------------------------===//

/// Emits the loop that counts the labels of all micro-batches before the first
/// one runs (nn-micro-batch). It reads data, which every rank can have, so it
/// stays a loop, at the stage that reads the total.
void StageBuilder::emitTotals(nn::MicroBatchesOp loop) {
  if (!isHere(loop.getResult(0).getType()))
    return;
  Block &body = loop.getBody().front();
  SmallVector<Value> data;
  SmallVector<Type> types;
  for (auto [value, part] : llvm::zip(loop.getData(), body.getArguments()))
    if (!part.use_empty()) // ids are the first stage's
      data.push_back(outside(value));
  for (Value total : loop.getResults())
    types.push_back(stageless(total.getType()));
  auto copy = nn::MicroBatchesOp::create(builder, loop.getLoc(), types,
                                         loop.getCountAttr(), data);
  outer.map(loop.getResults(), copy.getResults());
  OpBuilder::InsertionGuard guard(builder);
  Block *inner = builder.createBlock(&copy.getBody());
  IRMapping values;
  for (BlockArgument part : body.getArguments())
    if (!part.use_empty())
      values.map(part,
                 inner->addArgument(stageless(part.getType()), part.getLoc()));
  for (Operation &op : body) {
    auto convert = dyn_cast<ConvertOp>(op);
    if (convert && convert.getAxis() == kPipelineAxis)
      values.map(convert.getOutput(), values.lookup(convert.getInput()));
    else
      forgetStages(builder.clone(op, values));
  }
}
