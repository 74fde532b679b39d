//===- EncodedModel.cpp - is a program for encoding the model? ------------===//
// Ops behind the choice of positions treat each position alone. So a program
// in which the choice is looked through must be the model's forward part. Of an
// encoder-decoder model it must be the encoder, and chooses nothing.
//===----------------------------------------------------------------------===//

#include "tessera/Dialect/NN/Marks.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/NN/NNProgram.h"
#include "tessera/Dialect/NN/TokenScores.h"
#include "tessera/Inference/Correspondence.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tessera;

namespace {

/// Compares the ops of a program with those that make the logits of the model,
/// or its encoder's hidden states.
class EncodedModel {
public:
  EncodedModel(func::FuncOp program, func::FuncOp loss)
      : program(program), loss(loss) {}
  std::string run();

private:
  void matchArguments();
  void findModel();
  std::string visitTake(nn::TakeOp op);
  std::string match(Operation *op, Operation *model);
  std::string matchReturn();
  static std::string differs(Operation *op, const Twine &how) {
    StringRef part = nn::partOf(op->getLoc());
    return ("'" + op->getName().getStringRef() + "'" +
            (part.empty() ? Twine() : " of " + part) + " " + how)
        .str();
  }
  /// Returns a value of the model without its dropout.
  static Value sourceOf(Value value) {
    while (auto dropout = value.getDefiningOp<nn::DropoutOp>())
      value = dropout.getInput();
    return value;
  }
  bool isSame(Value own, Value model) const {
    return same.lookup(own) == sourceOf(model);
  }

  func::FuncOp program, loss;
  DenseMap<Value, Value> same; ///< The model's value for each of the program's.
  Value positions, hidden;
  /// The model's logits; null for an encoder alone.
  Value logits;
  /// The op that makes the model's hidden states.
  Operation *states = nullptr;
  SmallVector<Operation *> ops; ///< The model's ops, in order.
  size_t next = 0;
};

/// Returns the name of an argument, if the model has it.
Attribute nameOf(func::FuncOp func, BlockArgument argument) {
  DictionaryAttr attrs = func.getArgAttrDict(argument.getArgNumber());
  Builder b(func.getContext());
  SmallVector<NamedAttribute> name;
  for (StringRef key : {StringRef(nn::NNDialect::kParamAttr),
                        StringRef(nn::NNDialect::kTableAttr),
                        StringRef(nn::NNDialect::kDataAttr)})
    if (Attribute value = attrs ? attrs.get(key) : Attribute())
      name.push_back(b.getNamedAttr(key, value));
  return b.getDictionaryAttr(name);
}

void EncodedModel::matchArguments() {
  DenseMap<Attribute, Value> known;
  for (BlockArgument argument : loss.getArguments())
    known[nameOf(loss, argument)] = argument;
  for (BlockArgument argument : program.getArguments()) {
    auto data = program.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                     nn::NNDialect::kDataAttr);
    if (data && data == nn::kEncodePositions)
      positions = argument;
    else
      same[argument] = known.lookup(nameOf(program, argument));
  }
}

/// Finds the ops that make the logits, or an encoder's hidden states, without
/// dropout.
void EncodedModel::findModel() {
  states = nn::findHiddenStates(loss.getBody().front());
  if (!states || !nn::hasTag(states, nn::Tag::Memory))
    if (nn::PickOp pick = findPick(loss))
      logits = pick.getLogits();
  SetVector<Operation *> needed;
  SmallVector<Value> todo = {logits ? logits : states->getResult(0)};
  while (!todo.empty())
    if (Operation *op = sourceOf(todo.pop_back_val()).getDefiningOp())
      if (needed.insert(op))
        llvm::append_range(todo, op->getOperands());
  for (Operation &op : loss.getBody().front())
    if (needed.contains(&op))
      ops.push_back(&op);
}

/// Whatever follows reads the rows that are taken.
std::string EncodedModel::visitTake(nn::TakeOp op) {
  Value model = same.lookup(op.getInput());
  if (hidden || !model || model.getDefiningOp() != states)
    return differs(op, "takes rows of another value than the hidden states");
  if (op.getNumbers() != positions)
    return differs(op, "takes other rows than the positions");
  hidden = op.getInput();
  same[op.getOutput()] = model;
  same.erase(hidden);
  return "";
}

/// Returns the properties of an op without the dropout of attention.
Attribute propertiesOf(Operation *op) {
  auto given = dyn_cast_or_null<DictionaryAttr>(op->getPropertiesAsAttribute());
  if (!given || !isa<nn::AttentionOp>(op))
    return given;
  NamedAttrList attrs(given);
  attrs.erase("dropout");
  return attrs.getDictionary(op->getContext());
}

std::string EncodedModel::match(Operation *op, Operation *model) {
  if (op->getName() != model->getName() ||
      op->getNumOperands() != model->getNumOperands())
    return differs(op, "stands where the model has '" +
                           model->getName().getStringRef() + "'");
  if (propertiesOf(op) != propertiesOf(model))
    return differs(op, "has other attributes than in the model");
  auto attention = dyn_cast<nn::AttentionOp>(op);
  if (attention && !attention.getDropout().isZero())
    return differs(op, "has dropout");
  for (auto [own, other] : llvm::zip(op->getOperands(), model->getOperands()))
    if (!isSame(own, other))
      return differs(op, "reads another value than in the model");
  for (auto [own, other] : llvm::zip(op->getResults(), model->getResults()))
    same[own] = other;
  return "";
}

std::string EncodedModel::matchReturn() {
  auto *ret = program.getBody().front().getTerminator();
  if (!logits)
    return ret->getNumOperands() == 1 &&
                   isSame(ret->getOperand(0), states->getResult(0))
               ? ""
               : "it does not return the encoder's hidden states alone";
  if (ret->getNumOperands() != 2 || ret->getOperand(0) != hidden)
    return "it does not return the hidden states and the logits";
  if (!isSame(ret->getOperand(1), logits))
    return "it does not return the model's logits";
  return "";
}

std::string EncodedModel::run() {
  matchArguments();
  findModel();
  if (logits && !positions)
    return "it lacks positions as data";
  for (Operation &op : program.getBody().front().without_terminator()) {
    auto take = dyn_cast<nn::TakeOp>(op);
    if (!take && next == ops.size())
      return differs(&op, "stands where the model has ended");
    std::string why = take ? visitTake(take) : match(&op, ops[next++]);
    if (!why.empty())
      return why;
  }
  if (next != ops.size())
    return differs(ops[next], "of the model is left out");
  if (logits && !hidden)
    return "it takes no rows before the vocabulary";
  return matchReturn();
}

} // namespace

std::string tessera::compareEncoded(func::FuncOp program, func::FuncOp loss) {
  return EncodedModel(program, loss).run();
}
