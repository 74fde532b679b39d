//===- Unrolling.cpp - is a step of rows the model? -----------------------===//
// Erasure of time: attention over what was appended for a row's own slot and
// positions is attention over the sequence, and ops of rows alone do the same
// for all rows. So a step in which these are replaced must be the model.
//===----------------------------------------------------------------------===//

#include "lib/Inference/Candidates.h"
#include "tessera/Dialect/NN/Marks.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/NN/NNProgram.h"
#include "tessera/Dialect/NN/TokenScores.h"
#include "tessera/Inference/Correspondence.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace tessera;

namespace {

/// Compares the ops of a step with those that make the logits of the model, and
/// with scores of labels by these. The latter are added to `loss`.
class Unrolling {
public:
  Unrolling(func::FuncOp step, func::FuncOp loss) : step(step), loss(loss) {}
  std::string run();

private:
  std::string matchArguments();
  void matchSampling(StringRef data, Value argument);
  void findModel();
  void findOutputs(nn::PickOp pick);
  std::string visit(Operation *op);
  std::string visitAppend(nn::AppendOp op);
  std::string visitTake(nn::TakeOp op);
  std::string match(Operation *op, Operation *model);
  std::string matchAttention(nn::CachedAttentionOp op, Operation *model);
  std::string matchAdd(nn::AddOp op, nn::AddOp model);
  std::string matchReturn();
  std::string matchCache(OpOperand &operand);
  Attribute argumentName(func::FuncOp func, unsigned index);
  std::string differs(Operation *op, const Twine &how) {
    StringRef part = nn::partOf(op->getLoc());
    return ("'" + op->getName().getStringRef() + "'" +
            (part.empty() ? Twine() : " of " + part) + " " + how)
        .str();
  }
  /// Returns the value of the model that a value is a part or a copy of.
  static Value sourceOf(Value value) {
    for (Operation *op = value.getDefiningOp(); op; op = value.getDefiningOp())
      if (isa<nn::PrefixOp, nn::DropoutOp>(op))
        value = op->getOperand(0);
      else
        break;
    return value;
  }
  bool isSame(Value own, Value model) {
    return same.lookup(own) == sourceOf(model);
  }

  func::FuncOp step, loss;
  DenseMap<Value, Value> same; ///< The model's value for each of the step's.
  Value slots, positions, last, labels;
  SamplingData sampling; ///< The model's, where the step returns candidates.
  /// The model's values by their role in the step.
  llvm::StringMap<Value> outputs;
  SmallVector<Operation *> ops; ///< The model's ops, in order.
  size_t next = 0;
  bool hasTaken = false;
};

Attribute Unrolling::argumentName(func::FuncOp func, unsigned index) {
  for (StringRef key : {StringRef(nn::NNDialect::kParamAttr),
                        StringRef(nn::NNDialect::kTableAttr)})
    if (Attribute name = func.getArgAttr(index, key))
      return name;
  return {};
}

/// Returns how many candidates a step returns.
int64_t countOf(func::FuncOp step) {
  int64_t count = 1;
  for (auto op : step.getOps<nn::TopOp>())
    if (!op.getDraws())
      count = static_cast<int64_t>(op.getCount());
  return count;
}

/// The model gets arguments for what the step knows of sampling.
void Unrolling::matchSampling(StringRef data, Value argument) {
  for (auto [name, known] : {std::pair(nn::kSampledTokens, &sampling.tokens),
                             std::pair(nn::kPenalties, &sampling.penalties),
                             std::pair(nn::kSharpness, &sampling.sharpness),
                             std::pair(nn::kDraws, &sampling.draws)})
    if (data == name) {
      auto type = cast<RankedTensorType>(argument.getType());
      auto logits =
          cast<RankedTensorType>(findPick(loss).getLogits().getType());
      SmallVector<int64_t> shape(logits.getShape().drop_back());
      llvm::append_range(shape, type.getShape().drop_front(2));
      *known = loss.getBody().front().addArgument(
          RankedTensorType::get(shape, type.getElementType()), loss.getLoc());
      same[argument] = *known;
    }
}

std::string Unrolling::matchArguments() {
  DenseMap<Attribute, Value> known;
  auto dataOf = [](func::FuncOp func, unsigned index) {
    auto name =
        func.getArgAttrOfType<StringAttr>(index, nn::NNDialect::kDataAttr);
    return name ? name.getValue() : StringRef();
  };
  Value ids;
  for (BlockArgument argument : loss.getArguments()) {
    unsigned index = argument.getArgNumber();
    if (Attribute name = argumentName(loss, index))
      known[name] = argument;
    if (dataOf(loss, index) == "ids")
      ids = argument;
  }
  for (BlockArgument argument : step.getArguments()) {
    unsigned index = argument.getArgNumber();
    if (Attribute name = argumentName(step, index))
      same[argument] = known.lookup(name);
    StringRef data = dataOf(step, index);
    if (!data.consume_front(step.getName()))
      continue;
    if (data == "_ids")
      same[argument] = ids;
    if (data == "_slots")
      slots = argument;
    if (data == "_positions")
      positions = argument;
    if (data == "_last")
      last = argument;
    if (data == "_labels")
      labels = argument;
    matchSampling(data, argument);
  }
  bool isWhole = ids && slots && positions && !last != !labels;
  return isWhole ? "" : "it lacks rows as data";
}

/// Finds the model's logits, or the values made of them.
void Unrolling::findOutputs(nn::PickOp pick) {
  std::string name = step.getName().str();
  OpBuilder b(loss.getBody().front().getTerminator());
  if (labels) {
    same[labels] = pick.getLabels();
    TokenScores scores =
        scoreLabels(b, pick.getLoc(), pick.getLogits(), pick.getLabels());
    outputs = {{name + nn::kLogProbabilities.str(), scores.logProbability},
               {name + nn::kLabelRanks.str(), scores.rank}};
    return;
  }
  if (!sampling.isWhole()) {
    outputs[name + nn::kLogits.str()] = pick.getLogits();
    return;
  }
  Candidates found = findCandidates(b, pick.getLoc(), pick.getLogits(),
                                    sampling, countOf(step));
  outputs = {{name + nn::kCandidates.str(), found.best},
             {name + nn::kDrawn.str(), found.drawn},
             {name + nn::kTotals.str(), found.total}};
}

/// Finds the ops that make the outputs, without those that `sourceOf` looks
/// through.
void Unrolling::findModel() {
  findOutputs(findPick(loss));
  SetVector<Operation *> needed;
  SmallVector<Value> todo;
  for (auto &output : outputs)
    todo.push_back(output.second);
  while (!todo.empty())
    if (Operation *op = sourceOf(todo.pop_back_val()).getDefiningOp())
      if (needed.insert(op))
        llvm::append_range(todo, op->getOperands());
  for (Operation &op : loss.getBody().front())
    if (needed.contains(&op))
      ops.push_back(&op);
}

/// Its own rows, at their own places of a cache that the program was given.
std::string Unrolling::visitAppend(nn::AppendOp op) {
  if (op.getSlots() == slots && op.getPositions() == positions &&
      isa<BlockArgument>(op.getCache()))
    return "";
  return differs(op, "appends elsewhere than at its rows' slots and positions");
}

/// Whatever follows reads the rows that are taken.
std::string Unrolling::visitTake(nn::TakeOp op) {
  hasTaken = true;
  same[op.getOutput()] = same.lookup(op.getInput());
  same.erase(op.getInput());
  return op.getNumbers() == last ? "" : differs(op, "takes other rows");
}

std::string Unrolling::matchAttention(nn::CachedAttentionOp op,
                                      Operation *other) {
  auto model = dyn_cast<nn::AttentionOp>(other);
  auto keys = op.getKeys().getDefiningOp<nn::AppendOp>();
  auto values = op.getValues().getDefiningOp<nn::AppendOp>();
  if (!model || !model.getAttention().getMask().causal ||
      model.getBiasTable() || model.getAttention() != op.getAttention())
    return differs(op, "is another attention than the model's");
  if (!keys || !values || keys == values || op.getSlots() != slots ||
      op.getPositions() != positions || keys.getDeal() != op.getDeal() ||
      values.getDeal() != op.getDeal())
    return differs(op, "does not read what its rows have appended");
  if (op.getWeighted())
    return differs(op, "is a part of the model's attention");
  if (!isSame(op.getQuery(), model.getQuery()) ||
      !isSame(keys.getRows(), model.getKey()) ||
      !isSame(values.getRows(), model.getValue()))
    return differs(op, "reads other values than in the model");
  same[op.getOutput()] = model.getOutput();
  return "";
}

/// A table of positions is "sh" in the model, and "bsh" for rows.
std::string Unrolling::matchAdd(nn::AddOp op, nn::AddOp model) {
  dist::Signature own = dist::Signature::parse(op.getSpec());
  dist::Signature other = dist::Signature::parse(model.getSpec());
  bool isAlike = own.out == other.out && own.ins.size() == other.ins.size() &&
                 op.getCoefsAttr() == model.getCoefsAttr();
  for (size_t k = 0; isAlike && k < own.ins.size(); ++k) {
    bool ofRows = isa<BlockArgument>(sourceOf(model.getInputs()[k])) &&
                  "b" + other.ins[k] == own.ins[k];
    isAlike = ofRows || own.ins[k] == other.ins[k];
  }
  return isAlike ? "" : differs(op, "is another sum than in the model");
}

std::string Unrolling::match(Operation *op, Operation *model) {
  if (auto attention = dyn_cast<nn::CachedAttentionOp>(op))
    return matchAttention(attention, model);
  if (op->getName() != model->getName() ||
      op->getNumOperands() != model->getNumOperands())
    return differs(op, "stands where the model has '" +
                           model->getName().getStringRef() + "'");
  std::string why;
  if (auto add = dyn_cast<nn::AddOp>(op))
    why = matchAdd(add, cast<nn::AddOp>(model));
  else if (op->getPropertiesAsAttribute() != model->getPropertiesAsAttribute())
    why = differs(op, "has other attributes than in the model");
  for (auto [own, other] : llvm::zip(op->getOperands(), model->getOperands()))
    if (why.empty() && !isSame(own, other))
      why = differs(op, "reads another value than in the model");
  for (auto [own, other] : llvm::zip(op->getResults(), model->getResults()))
    same[own] = other;
  return why;
}

std::string Unrolling::visit(Operation *op) {
  if (auto append = dyn_cast<nn::AppendOp>(op))
    return visitAppend(append);
  if (auto take = dyn_cast<nn::TakeOp>(op))
    return visitTake(take);
  auto lookup = dyn_cast<nn::EmbeddingOp>(op);
  if (lookup && lookup.getIds() == positions) {
    same[lookup.getOutput()] = same.lookup(lookup.getTable());
    return "";
  }
  if (next == ops.size())
    return differs(op, "stands where the model has ended");
  return match(op, ops[next++]);
}

/// A cache is returned as what was appended to it.
std::string Unrolling::matchCache(OpOperand &operand) {
  unsigned k = operand.getOperandNumber();
  auto append = operand.get().getDefiningOp<nn::AppendOp>();
  auto cache = append ? dyn_cast<BlockArgument>(append.getCache()) : nullptr;
  bool isOwn =
      cache &&
      step.getArgAttr(cache.getArgNumber(), "nn.of") ==
          step.getResultAttr(k, nn::NNDialect::kParamAttr) &&
      step.getArgAttr(cache.getArgNumber(), nn::NNDialect::kRoleAttr) ==
          step.getResultAttr(k, nn::NNDialect::kRoleAttr);
  return isOwn ? "" : "it returns another cache than it was given";
}

/// Returns all caches, and the logits or what is scored by them.
std::string Unrolling::matchReturn() {
  auto *ret = step.getBody().front().getTerminator();
  for (OpOperand &operand : ret->getOpOperands()) {
    unsigned k = operand.getOperandNumber();
    if (step.getResultAttr(k, nn::NNDialect::kParamAttr)) {
      if (std::string why = matchCache(operand); !why.empty())
        return why;
      continue;
    }
    auto role =
        step.getResultAttrOfType<StringAttr>(k, nn::NNDialect::kRoleAttr);
    auto wanted = outputs.find(role ? role.getValue() : StringRef());
    if (wanted == outputs.end() || !isSame(operand.get(), wanted->second))
      return labels ? "it does not return scores by the model's logits"
             : sampling.isWhole()
                 ? "it does not return the best of the model's logits"
                 : "it does not return the model's logits";
  }
  int64_t appends = llvm::range_size(step.getOps<nn::AppendOp>());
  return appends + outputs.size() == ret->getNumOperands()
             ? ""
             : "it does not return every cache that it appends to";
}

std::string Unrolling::run() {
  if (std::string why = matchArguments(); !why.empty())
    return why;
  findModel();
  for (Operation &op : step.getBody().front().without_terminator())
    if (std::string why = visit(&op); !why.empty())
      return why;
  if (next != ops.size())
    return differs(ops[next], "of the model is left out");
  if (last && !hasTaken)
    return "it takes no rows before the vocabulary";
  return matchReturn();
}

} // namespace

std::string tessera::compareUnrolled(func::FuncOp step, func::FuncOp loss) {
  OwningOpRef<func::FuncOp> model(loss.clone());
  return Unrolling(step, *model).run();
}
