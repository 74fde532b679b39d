//===- SplitOwners.cpp - one program per owner of parameters --------------===//

#include "mlir/IR/IRMapping.h"
#include "tessera/Dialect/Dist/Chunks.h"
#include "tessera/Dialect/NN/Marks.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/NN/NNProgram.h"
#include "tessera/Dialect/RT/RTProgram.h"
#include "tessera/Options/MeshAxis.h"
#include "tessera/Partition/Passes.h"
#include "tessera/Program/ProgramJson.h"
#include "llvm/Support/FormatVariadic.h"

namespace tessera {
#define GEN_PASS_DEF_SPLITOWNERSPASS
#include "tessera/Partition/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;
using namespace tessera::dist;

namespace {

constexpr StringLiteral kAxis = kDataAxis;

State ownerState(Type type) { return stateOf(type, kAxis); }

/// A rank's program says nothing of owners any more.
RankedTensorType ownerless(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return ownerState(type).kind == State::A
             ? withState(tensor, kAxis, {State::I})
             : tensor;
}

/// Turns a copy of the step of all ranks into that of one.
class OwnerBuilder {
public:
  OwnerBuilder(func::FuncOp func, MeshAttr mesh, int64_t owner)
      : func(func), block(func.getBody().front()), builder(func.getContext()),
        ranks(mesh.getSize(kAxis)), owner(owner) {}

  LogicalResult build();

private:
  bool isElsewhere(Type type) const {
    State state = ownerState(type);
    return state.kind == State::A && state.where != owner;
  }
  LogicalResult visit(Operation *op);
  LogicalResult lower(ConvertOp op);
  void keep(ConvertOp op);
  void reduce(ConvertOp sum, ConvertOp kept);
  Value view(Value value, Type type);
  Value zero(ConvertOp op);
  Value term(ConvertOp sum, int64_t rank, StringRef message);
  Value localSum(ConvertOp sum, StringRef message);
  void dropZeros(nn::AddOp op);
  void replace(ConvertOp op, Value value);
  void removeElsewhere();

  func::FuncOp func;
  Block &block;
  OpBuilder builder;
  int64_t ranks, owner, reductions = 0;
  SmallVector<Operation *> dead; ///< In program order.
};

LogicalResult OwnerBuilder::build() {
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator()))
    if (failed(visit(&op)))
      return failure();
  removeElsewhere();
  for (BlockArgument argument : block.getArguments())
    argument.setType(ownerless(argument.getType()));
  for (Operation &op : block)
    for (Value result : op.getResults())
      result.setType(ownerless(result.getType()));
  func.setType(builder.getFunctionType(
      block.getArgumentTypes(), block.getTerminator()->getOperandTypes()));
  return success();
}

LogicalResult OwnerBuilder::visit(Operation *op) {
  auto convert = dyn_cast<ConvertOp>(op);
  if (convert && convert.getAxis() == kAxis &&
      (convert.getFrom().kind == State::A || convert.getTo().kind == State::A))
    return lower(convert);
  if (convert && convert.getInput().getDefiningOp<rt::ZeroOp>())
    return replace(convert, zero(convert)), success();
  if (op->getNumResults() > 0 && isElsewhere(op->getResult(0).getType()))
    dead.push_back(op);
  else if (auto sum = dyn_cast<nn::AddOp>(op))
    dropZeros(sum);
  return success();
}

void OwnerBuilder::replace(ConvertOp op, Value value) {
  auto unread = op.getInput().getDefiningOp<rt::ZeroOp>();
  op.getOutput().replaceAllUsesWith(value);
  op.erase();
  if (unread && unread->use_empty())
    unread.erase();
}

LogicalResult OwnerBuilder::lower(ConvertOp op) {
  builder.setInsertionPoint(op);
  State from = op.getFrom(), to = op.getTo();
  bool mine = from.kind == State::A && from.where == owner;
  if (from.kind == State::A && to.kind == State::A)
    return op.emitOpError() << "passes a value from one owner to another, "
                               "which no parameter needs";
  if (to.kind == State::A)
    return keep(op), success();
  if (to.kind == State::P) { // the others have 0
    if (mine)
      return replace(op, view(op.getInput(), op.getType())), success();
    return replace(op, zero(op)), success();
  }
  auto copy = rt::BroadcastOp::create(
      builder, op.getLoc(), ownerless(op.getType()),
      mine ? op.getInput() : Value(), builder.getI64IntegerAttr(from.where),
      builder.getStrArrayAttr({kAxis}));
  copy->setAttr("reason", builder.getStringAttr("parameter from its owner"));
  nn::inheritPhase(copy, op);
  return replace(op, copy.getResult()), success();
}

/// replicated_to_stage(all_reduce(x)) -> the sum at the owner of what the
/// others send: a rank sends x once, and its owner receives n - 1 times as
/// much.
void OwnerBuilder::keep(ConvertOp op) {
  auto sum = op.getInput().getDefiningOp<ConvertOp>();
  if (sum && sum.getAxis() == kAxis && sum.getFrom().kind == State::P &&
      sum->hasOneUse())
    return reduce(sum, op);
  if (op.getTo().where != owner)
    return dead.push_back(op);
  if (op.getFrom().kind == State::I)
    return replace(op, op.getInput());
  // The value may be converted through R, which changes nothing on a rank.
  auto enter = op.getFrom().kind == State::R ? sum : ConvertOp();
  bool entered =
      enter && enter.getAxis() == kAxis && enter.getFrom().kind == State::I;
  replace(op, entered ? enter.getInput()
                      : view(op.getInput(), ownerless(op.getType())));
}

void OwnerBuilder::reduce(ConvertOp sum, ConvertOp kept) {
  int64_t to = kept.getTo().where;
  std::string message = "gradient " + std::to_string(reductions++);
  if (to == owner) {
    replace(kept, localSum(sum, message));
  } else {
    auto send = rt::SendOp::create(builder, sum.getLoc(), sum.getInput(),
                                   builder.getI64IntegerAttr(to),
                                   builder.getStringAttr(kAxis));
    send->setAttr("reason", builder.getStringAttr("gradient for its owner"));
    send->setAttr(rt::kMessageAttr, builder.getStringAttr(message));
    nn::inheritPhase(send, sum);
  }
  dead.push_back(sum);
  if (to != owner)
    dead.push_back(kept);
}

/// Returns the same elements in another state.
Value OwnerBuilder::view(Value value, Type type) {
  return rt::ViewOp::create(builder, value.getLoc(), type, value, Value(),
                            builder.getI64IntegerAttr(0),
                            builder.getI64IntegerAttr(0));
}

/// The result of a conversion that has nothing to convert.
Value OwnerBuilder::zero(ConvertOp op) {
  builder.setInsertionPoint(op);
  auto made = rt::ZeroOp::create(builder, op.getLoc(), op.getType());
  nn::inheritPhase(made, op);
  return made;
}

/// Returns the term of a rank: its own value, or a value that it is sent.
Value OwnerBuilder::term(ConvertOp sum, int64_t rank, StringRef message) {
  RankedTensorType type = sum.getOutput().getType();
  if (rank == owner) {
    Value own = view(sum.getInput(), type);
    nn::inheritPhase(own.getDefiningOp(), sum);
    return own;
  }
  auto part = rt::ReceiveOp::create(builder, sum.getLoc(), type,
                                    builder.getI64IntegerAttr(rank),
                                    builder.getStringAttr(kAxis));
  part->setAttr("reason", builder.getStringAttr("gradient for its owner"));
  part->setAttr(rt::kMessageAttr, builder.getStringAttr(message));
  nn::inheritPhase(part, sum);
  return part.getResult();
}

/// Neighbours first, as an all-reduce adds (runtime/collectives/Reduce.cpp):
/// the same bits. Sums wait on a stack for another of as many ranks.
Value OwnerBuilder::localSum(ConvertOp sum, StringRef message) {
  SmallVector<Value> waiting = {term(sum, /*rank=*/0, message)};
  auto addTop = [&] {
    Value right = waiting.pop_back_val(), left = waiting.pop_back_val();
    waiting.push_back(nn::sumOf(builder, sum.getLoc(), left, right));
    nn::inheritPhase(waiting.back().getDefiningOp(), sum);
  };
  for (int64_t rank = 1; rank < ranks; ++rank) {
    waiting.push_back(term(sum, rank, message));
    for (int64_t pairs = rank + 1; pairs % 2 == 0; pairs /= 2)
      addTop();
  }
  while (waiting.size() > 1)
    addTop();
  return waiting.front();
}

/// add(x, 0) -> x + nothing: scalars of what others own.
void OwnerBuilder::dropZeros(nn::AddOp op) {
  auto isZero = [](Value term) { return !!term.getDefiningOp<rt::ZeroOp>(); };
  if (op.getCoefs() || !llvm::any_of(op.getInputs(), isZero))
    return;
  Signature sig = Signature::parse(op.getSpec());
  SmallVector<Value> terms;
  std::string spec;
  for (auto [term, letters] : llvm::zip(op.getInputs(), sig.ins)) {
    if (isZero(term) && letters == sig.out)
      continue;
    spec += (terms.empty() ? "" : ",") + letters;
    terms.push_back(term);
  }
  if (terms.empty()) { // owns nothing
    spec = sig.out;
    terms.push_back(op.getInputs().front());
  }
  SmallVector<Value> before(op.getInputs());
  op.setSpec(spec + "->" + sig.out);
  op.getInputsMutable().assign(terms);
  for (Value term : before)
    if (isZero(term) && term.use_empty())
      term.getDefiningOp()->erase();
}

/// Erases what another rank computes, holds and returns.
void OwnerBuilder::removeElsewhere() {
  Operation *ret = block.getTerminator();
  for (unsigned k = ret->getNumOperands(); k-- > 0;)
    if (isElsewhere(ret->getOperand(k).getType())) {
      ret->eraseOperand(k);
      (void)func.eraseResult(k);
    }
  for (Operation *op : llvm::reverse(dead))
    op->erase();
  for (unsigned k = block.getNumArguments(); k-- > 0;)
    if (isElsewhere(block.getArgument(k).getType()))
      (void)func.eraseArgument(k);
}

struct SplitOwnersPass : tessera::impl::SplitOwnersPassBase<SplitOwnersPass> {
  void runOnOperation() override {
    FailureOr<SmallVector<func::FuncOp>> programs =
        nn::findWithOthers(getOperation(), "step");
    if (failed(programs))
      return signalPassFailure();
    MeshAttr mesh = meshOf(getOperation());
    if (!mesh || mesh.getSize(kAxis) == 1) {
      programs->front().emitError() << "has no mesh axis '" << kAxis
                                    << "' of several ranks to own parameters";
      return signalPassFailure();
    }
    for (func::FuncOp program : *programs)
      if (failed(split(program, mesh)))
        return signalPassFailure();
    program::Pipeline owners;
    owners.axis = kAxis;
    owners.hasOwners = true;
    getOperation()->setAttr(
        rt::RTDialect::kPipelineAttr,
        StringAttr::get(&getContext(),
                        llvm::formatv("{0}", program::toJson(owners))));
  }

  LogicalResult split(func::FuncOp program, MeshAttr mesh) {
    Builder builder(&getContext());
    for (int64_t owner = 0; owner < mesh.getSize(kAxis); ++owner) {
      func::FuncOp copy = program.clone();
      getOperation().insert(program, copy);
      copy.setName(program.getName().str() + "_" + std::to_string(owner));
      copy->setAttr(rt::RTDialect::kStageAttr,
                    builder.getI64IntegerAttr(owner));
      copy->setAttr(rt::kStageAxisAttr, builder.getStringAttr(kAxis));
      if (failed(OwnerBuilder(copy, mesh, owner).build()))
        return failure();
    }
    program.erase();
    return success();
  }
};

} // namespace
