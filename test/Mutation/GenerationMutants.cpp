//===- GenerationMutants.cpp - changes of programs for generation ---------===//
// Mutants append and read at another slot, place or position, of other heads or
// another layer, and take other rows.
//===----------------------------------------------------------------------===//

#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/NN/NNProgram.h"
#include "tessera/Dialect/RT/RT.h"
#include "test/Dialect/NN/OtherAttention.h"
#include "test/Mutation/Mutant.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::test;

namespace {

/// A value by where it is defined, for copies of a module.
struct ValuePlace {
  std::string program; ///< The program of an argument, else "".
  unsigned op = 0, index = 0;

  Value in(ModuleOp module) const {
    if (!program.empty())
      return module.lookupSymbol<func::FuncOp>(program).getArgument(index);
    return opsOf(module)[op]->getResult(index);
  }
};

class GenerationEnumeration {
public:
  GenerationEnumeration(ModuleOp program, Stage stage)
      : stage(stage), ops(opsOf(program)) {}
  Mutants run();

private:
  void operands(Operation *op, unsigned number);
  SmallVector<ValuePlace> othersOf(OpOperand &operand, unsigned number) const;
  void window(Operation *op, unsigned number);
  void deal(Operation *op, unsigned number);
  void distance(Operation *op, unsigned number);
  void add(const std::string &how, unsigned number, const std::string &what,
           std::function<void(Operation *)> change) {
    std::string kind = ops[number]->getName().getStringRef().str() + " " + how;
    mutants.push_back(
        {stage, kind, describe(ops[number]) + what, "", "", true,
         [=](ModuleOp module) { change(opsOf(module)[number]); }});
  }

  Stage stage;
  std::vector<Operation *> ops;
  Mutants mutants;
};

/// Describes what a changed operand changes; "": it is no matter of caches or
/// rows.
std::string changeOf(OpOperand &operand) {
  Operation *op = operand.getOwner();
  int64_t rank = cast<RankedTensorType>(operand.get().getType()).getRank();
  if (isa<func::ReturnOp>(op))
    return rank == 5   ? "of another cache"
           : rank == 4 ? "of other candidates"
           : rank == 2 ? "of other scores"
                       : "";
  const char *const ofAttention[] = {
      "of another query", "over other keys or values",
      "over other keys or values", "in other slots", "up to other positions"};
  if (isa<nn::CachedAttentionOp, rt::CachedAttentionOp>(op))
    return operand.getOperandNumber() < std::size(ofAttention)
               ? ofAttention[operand.getOperandNumber()]
               : "of other biases";
  const char *const ofAppend[] = {"to another cache", "of other rows",
                                  "in other slots", "at other positions"};
  if (isa<nn::AppendOp, rt::AppendOp>(op))
    return ofAppend[operand.getOperandNumber()];
  if (isa<rt::MergeMeansOp>(op))
    return "of other parts";
  if (isa<nn::PenalizeOp, nn::TopOp, rt::PenalizeOp, rt::TopOp, rt::MergeTopOp>(
          op))
    return operand.getOperandNumber() == 0 ? "of other logits"
                                           : "chosen otherwise";
  bool isData = getElementTypeOrSelf(operand.get()).isInteger(32);
  return isData || isa<nn::TakeOp>(op) ? "of other rows" : "";
}

/// Earlier values of the same type, in the same program: below the types all
/// data and the nearest two of what is computed, of which each is run.
SmallVector<ValuePlace> GenerationEnumeration::othersOf(OpOperand &operand,
                                                        unsigned number) const {
  SmallVector<ValuePlace> others;
  auto func = operand.getOwner()->getParentOfType<func::FuncOp>();
  auto isOther = [&](Value value) {
    return value != operand.get() && value.getType() == operand.get().getType();
  };
  for (BlockArgument argument : func.getArguments())
    if (isOther(argument))
      others.push_back({func.getName().str(), 0, argument.getArgNumber()});
  size_t most = stage == Stage::Typed ? SIZE_MAX : others.size() + 2;
  for (unsigned k = number; k-- > 0 && others.size() < most;)
    if (ops[k]->getBlock() == operand.getOwner()->getBlock())
      for (OpResult result : ops[k]->getResults())
        if (isOther(result))
          others.push_back({"", k, result.getResultNumber()});
  return others;
}

void GenerationEnumeration::operands(Operation *op, unsigned number) {
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<RankedTensorType>(operand.get().getType()))
      continue;
    std::string change = changeOf(operand);
    if (change.empty())
      continue;
    unsigned index = operand.getOperandNumber();
    for (const ValuePlace &other : othersOf(operand, number))
      add(change, number,
          ", operand " + std::to_string(index) + " as " +
              (other.program.empty() ? "result of op " : "argument ") +
              std::to_string(other.program.empty() ? other.op : other.index),
          [=](Operation *op) {
            op->setOperand(index, other.in(op->getParentOfType<ModuleOp>()));
          });
  }
}

/// Changes the window; attention without one gets one that all texts are longer
/// than.
void GenerationEnumeration::window(Operation *op, unsigned number) {
  int64_t window = attentionOf(op).getWindow();
  std::vector<int64_t> others = {1, 4};
  if (window)
    others = {0, window - 1, window + 1};
  for (int64_t other : others)
    add("in another window", number, " " + std::to_string(other),
        [=](Operation *op) {
          setAttention(op, withWindow(attentionOf(op), other));
        });
  add("of another scale", number, "", [](Operation *op) {
    nn::AttentionAttr own = attentionOf(op);
    setAttention(op, withScale(own, 2 * own.getScale().convertToDouble()));
  });
}

/// Changes the farthest distance of biases: all that are not exact are the
/// farthest.
void GenerationEnumeration::distance(Operation *op, unsigned number) {
  if (attentionOf(op).getMaxDistance() == 0)
    return;
  Value table = op->getOperands().back();
  int64_t exact = cast<RankedTensorType>(table.getType()).getDimSize(0) / 2;
  add("to another distance", number, "", [=](Operation *op) {
    setAttention(op, withMaxDistance(attentionOf(op), exact + 1));
  });
}

/// Places dealt to one rank more, and to one alone.
void GenerationEnumeration::deal(Operation *op, unsigned number) {
  auto own = op->getAttrOfType<IntegerAttr>("deal");
  if (!own)
    return;
  for (int64_t other : {int64_t(1), own.getInt() + 1})
    if (other != own.getInt())
      add("dealt to other ranks", number, " " + std::to_string(other),
          [=](Operation *op) {
            op->setAttr("deal",
                        Builder(op->getContext()).getI64IntegerAttr(other));
          });
}

Mutants GenerationEnumeration::run() {
  for (auto [number, op] : llvm::enumerate(ops)) {
    operands(op, number);
    deal(op, number);
    if (isa<nn::CachedAttentionOp, rt::CachedAttentionOp>(op)) {
      window(op, number);
      distance(op, number);
    }
  }
  return std::move(mutants);
}

} // namespace

Mutants test::generationMutants(ModuleOp program, Stage stage) {
  return GenerationEnumeration(program, stage).run();
}
