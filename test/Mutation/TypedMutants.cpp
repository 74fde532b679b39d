//===- TypedMutants.cpp - changes of the typed training step --------------===//

#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/NN/NNProgram.h"
#include "tessera/Options/MeshAxis.h"
#include "test/Mutation/Mutant.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::test;
using dist::State;

namespace {

/// States that a value could have on an axis.
SmallVector<State> candidates(RankedTensorType type, StringRef axis,
                              dist::MeshAttr mesh) {
  SmallVector<State> states = {{State::I}, {State::R}, {State::P}};
  if (axis == kPipelineAxis)
    for (int64_t stage = 0; stage < mesh.getSize(axis); ++stage)
      states.push_back({State::A, stage});
  auto others = dist::withState(type, axis, {State::I});
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    states.push_back(State::sharded(dim, dist::axesOf(others, dim).size()));
  return states;
}

/// Both compute the same of the same, as recomputation does.
bool isRepetition(OpResult a, OpResult b) {
  auto withoutPhase = [](Operation *op) {
    NamedAttrList attributes(op->getAttrDictionary());
    attributes.erase(nn::NNDialect::kPhaseAttr);
    return attributes.getDictionary(op->getContext());
  };
  Operation *first = a.getOwner(), *second = b.getOwner();
  if (first->getName() != second->getName() ||
      a.getResultNumber() != b.getResultNumber() ||
      first->getNumOperands() != second->getNumOperands() ||
      withoutPhase(first) != withoutPhase(second))
    return false;
  return llvm::all_of(
      llvm::zip(first->getOperands(), second->getOperands()), [](auto pair) {
        auto [x, y] = pair;
        auto one = dyn_cast<OpResult>(x), other = dyn_cast<OpResult>(y);
        return x == y || (one && other && isRepetition(one, other));
      });
}

class TypedEnumeration {
public:
  explicit TypedEnumeration(ModuleOp program)
      : program(program), mesh(dist::meshOf(program)) {}
  Mutants run();

private:
  void deleted(dist::ConvertOp op, unsigned number);
  void changed(dist::ConvertOp op, unsigned number);
  void rewired(dist::ConvertOp op, unsigned number);
  void unmasked(dist::MaskOp op, unsigned number);
  void relabelled(OpResult result, unsigned number);
  void placed(func::FuncOp func, BlockArgument argument, StringRef axis);
  void add(const std::string &kind, const std::string &what,
           std::function<void(ModuleOp)> apply) {
    mutants.push_back(
        {Stage::Typed, kind, what, "", "", true, std::move(apply)});
  }

  ModuleOp program;
  dist::MeshAttr mesh;
  std::vector<Operation *> ops;
  Mutants mutants;
};

void TypedEnumeration::deleted(dist::ConvertOp op, unsigned number) {
  add("conversion deleted, " + phaseOf(op), describe(op), [=](ModuleOp module) {
    Operation *op = opsOf(module)[number];
    op->getResult(0).replaceAllUsesWith(op->getOperand(0));
    op->erase();
  });
}

void TypedEnumeration::changed(dist::ConvertOp op, unsigned number) {
  auto type = cast<RankedTensorType>(op.getInput().getType());
  for (State to : candidates(type, op.getAxis(), mesh)) {
    if (to == op.getTo() || !dist::findConversion(op.getFrom(), to))
      continue;
    add("conversion of another kind, " + phaseOf(op),
        describe(op) + " to " + to.str(), [=](ModuleOp module) {
          auto op = cast<dist::ConvertOp>(opsOf(module)[number]);
          OpBuilder builder(op);
          Value other = dist::ConvertOp::create(
              builder, op.getLoc(), op.getInput(), op.getAxis(), to);
          op.getOutput().replaceAllUsesWith(other);
          op.erase();
        });
    if (to.isSharded() && op.getTo().isSharded())
      mutants.back().mayBeRight = kOtherSplit;
  }
}

/// Reads the nearest earlier value of its type instead.
void TypedEnumeration::rewired(dist::ConvertOp op, unsigned number) {
  for (unsigned other = number; other-- > 0;) {
    if (ops[other]->getBlock() != op->getBlock() ||
        isa<dist::ConvertOp>(ops[other]))
      continue;
    for (OpResult result : ops[other]->getResults()) {
      if (result == op.getInput() ||
          result.getType() != op.getInput().getType())
        continue;
      unsigned index = result.getResultNumber();
      add("conversion of another value, " + phaseOf(op), describe(op),
          [=](ModuleOp module) {
            std::vector<Operation *> ops = opsOf(module);
            ops[number]->setOperand(0, ops[other]->getResult(index));
          });
      auto input = dyn_cast<OpResult>(op.getInput());
      if (input && isRepetition(input, result))
        mutants.back().mayBeRight = kSameValue;
      return;
    }
  }
}

/// Returns whether candidates are taken from masked logits: these leave padding
/// out, and the exponentials of the others are masked, too.
static bool readsMaskedAgain(Operation *op) {
  auto program = op->getParentOfType<func::FuncOp>();
  return isa<nn::TopOp>(op) ||
         (isa<nn::AddOp>(op) && !program.getOps<nn::TopOp>().empty());
}

/// Masks left out, for one reader or for all, and filled otherwise.
void TypedEnumeration::unmasked(dist::MaskOp op, unsigned number) {
  add("mask deleted", describe(op), [=](ModuleOp module) {
    auto op = cast<dist::MaskOp>(opsOf(module)[number]);
    op.getOutput().replaceAllUsesWith(op.getInput());
    op.erase();
  });
  add("mask of another filling", describe(op), [=](ModuleOp module) {
    auto op = cast<dist::MaskOp>(opsOf(module)[number]);
    op.setFill(op.getFill() == dist::Padding::Zero ? dist::Padding::NegInfinity
                                                   : dist::Padding::Zero);
  });
  auto uses =
      static_cast<unsigned>(std::distance(op->use_begin(), op->use_end()));
  for (unsigned use = 0; uses > 1 && use < uses; ++use) {
    add("mask left out by one reader", describe(op), [=](ModuleOp module) {
      auto op = cast<dist::MaskOp>(opsOf(module)[number]);
      std::next(op->use_begin(), use)->set(op.getInput());
    });
    if (readsMaskedAgain(std::next(op->use_begin(), use)->getOwner()))
      mutants.back().mayBeRight = kNoCandidate;
  }
}

/// The type says what the ranks do not hold.
void TypedEnumeration::relabelled(OpResult result, unsigned number) {
  auto type = dyn_cast<RankedTensorType>(result.getType());
  if (!type)
    return;
  unsigned index = result.getResultNumber();
  for (StringAttr axis : mesh.getAxes()) {
    State from = dist::stateOf(type, axis);
    bool isConversion = isa<dist::ConvertOp>(result.getOwner());
    if (from.kind == State::I && !isConversion)
      continue;
    State to{from.kind == State::I ? State::R : State::I};
    add(isConversion ? "conversion relabelled" : "result relabelled",
        describe(result.getOwner()) + " to " + to.str() + " on " + axis.str(),
        [=, name = axis.str()](ModuleOp module) {
          Value value = opsOf(module)[number]->getResult(index);
          value.setType(dist::withState(cast<RankedTensorType>(value.getType()),
                                        name, to));
        });
    mutants.back().retypes = false;
  }
}

void TypedEnumeration::placed(func::FuncOp func, BlockArgument argument,
                              StringRef axis) {
  std::string program = func.getName().str();
  auto type = cast<RankedTensorType>(argument.getType());
  unsigned index = argument.getArgNumber();
  for (State state : candidates(type, axis, mesh)) {
    auto other = dist::withState(type, axis, state);
    if (state == dist::stateOf(type, axis) || !dist::checkLevels(other).empty())
      continue;
    std::string name = axis.str();
    add("input in another state",
        "input " + std::to_string(index) + " as " + state.str() + " on " + name,
        [=](ModuleOp module) {
          Value input =
              module.lookupSymbol<func::FuncOp>(program).getArgument(index);
          input.setType(dist::withState(cast<RankedTensorType>(input.getType()),
                                        name, state));
        });
  }
}

Mutants TypedEnumeration::run() {
  ops = opsOf(program);
  auto eachConversion = [&](auto mutate) {
    for (unsigned number = 0; number < ops.size(); ++number)
      if (auto op = dyn_cast<dist::ConvertOp>(ops[number]))
        (this->*mutate)(op, number);
  };
  eachConversion(&TypedEnumeration::deleted);
  eachConversion(&TypedEnumeration::changed);
  eachConversion(&TypedEnumeration::rewired);
  for (unsigned number = 0; number < ops.size(); ++number)
    if (auto op = dyn_cast<dist::MaskOp>(ops[number]))
      unmasked(op, number);
  for (unsigned number = 0; number < ops.size(); ++number)
    for (OpResult result : ops[number]->getResults())
      relabelled(result, number);
  for (func::FuncOp func : programsOf(program))
    for (BlockArgument argument : func.getArguments())
      for (StringAttr axis : mesh.getAxes())
        if (!nn::isEvaluation(func))
          placed(func, argument, axis);
  return std::move(mutants);
}

} // namespace

Mutants test::typedMutants(ModuleOp typed) {
  return TypedEnumeration(typed).run();
}
