//===- LocalizedMutants.cpp - changes of what a rank knows of the whole ---===//

#include "mlir/AsmParser/AsmParser.h"
#include "tessera/Dialect/Dist/LocalShape.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/NN/NNProgram.h"
#include "tessera/Dialect/RT/RT.h"
#include "tessera/Partition/Factors.h"
#include "test/Mutation/Mutant.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::test;
using dist::State;

namespace {

/// Changes what an op knows of the slices of a factor.
void changeSpan(Operation *op, unsigned number, char letter,
                const std::string &kind, void (*change)(FactorSpan &),
                Mutants &mutants) {
  mutants.push_back(
      {Stage::Localized, kind, describe(op) + ", factor " + letter,
       isa<nn::MaxOp>(op) ? kShiftCancels : "", "", true, [=](ModuleOp module) {
         Operation *op = opsOf(module)[number];
         FactorSpan span = *spanOf(op, letter);
         change(span);
         setSpan(op, letter, span);
       }});
}

/// Strides of global indices, masks of padding, positions of later
/// micro-batches come from the global size; where a slice starts, from chunks.
void changeSpans(Operation *op, unsigned number, Mutants &mutants) {
  auto factors = op->getAttrOfType<DictionaryAttr>(rt::RTDialect::kFactorsAttr);
  for (NamedAttribute factor : factors) {
    char letter = factor.getName().getValue().front();
    changeSpan(
        op, number, letter, "local size for a global one",
        [](FactorSpan &span) { span.total = span.chunk(); }, mutants);
    // An unrolled loop is changed op by op; in a loop the change matters for
    // the others.
    auto part = op->getAttrOfType<IntegerAttr>(rt::RTDialect::kMicroBatchAttr);
    if (part && part.getInt() == 0)
      mutants.back().mayBeRight = kFirstMicroBatch;
    size_t sizes = mutants.size() - 1;
    changeSpan(
        op, number, letter, "slices of another size",
        [](FactorSpan &span) { --span.cuts.back().chunk; }, mutants);
    std::optional<FactorSpan> span = spanOf(op, letter);
    if (isFirstAlong(op, span->cuts.back().axis.getValue()))
      mutants.back().mayBeRight = kFirstStage;
    if (!needsPlace(op))
      mutants[sizes].mayBeRight = mutants.back().mayBeRight = kNoDropout;
  }
}

RankedTensorType globalType(func::FuncOp step, unsigned index) {
  auto type =
      step.getArgAttrOfType<TypeAttr>(index, rt::RTDialect::kGlobalAttr);
  return cast<RankedTensorType>(type.getValue());
}

/// Returns all types that differ from `type` in the state on one axis.
SmallVector<RankedTensorType> otherPlaces(RankedTensorType type,
                                          ArrayRef<StringAttr> axes) {
  SmallVector<RankedTensorType> others;
  auto add = [&](RankedTensorType other) {
    if (other != type && dist::checkLevels(other).empty())
      others.push_back(other);
  };
  for (StringAttr axis : axes) {
    auto whole = dist::withState(type, axis, {State::I});
    add(whole);
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      int64_t level = dist::axesOf(whole, dim).size();
      add(dist::withState(type, axis, State::sharded(dim, level)));
    }
  }
  return others;
}

std::string text(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// Returns the attribute that names a parameter or data; null: it is neither.
StringAttr nameOf(func::FuncOp func, unsigned index) {
  auto name =
      func.getArgAttrOfType<StringAttr>(index, nn::NNDialect::kParamAttr);
  return name ? name
              : func.getArgAttrOfType<StringAttr>(index,
                                                  nn::NNDialect::kDataAttr);
}

/// Mutants are made of copies in other contexts, where attributes are others.
void placeElsewhere(func::FuncOp func, const std::string &name, Type other) {
  for (unsigned index = 0; index < func.getNumArguments(); ++index)
    if (StringAttr own = nameOf(func, index); own && own.getValue() == name)
      func.setArgAttr(index, rt::RTDialect::kGlobalAttr, TypeAttr::get(other));
}

/// Is a dimension of one element split over stages?
bool splitsOneOverStages(RankedTensorType type, StringRef other) {
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (type.getDimSize(d) == 1 &&
        other.contains("pp: S(" + std::to_string(d) + ")"))
      return true;
  return false;
}

/// Has the first rank of `cp` alone which rows to take, or labels, of its lane?
/// No cache depends on these.
bool leavesToFirstRank(StringRef name, RankedTensorType type, StringRef other,
                       dist::MeshAttr mesh) {
  return (name.ends_with("_last") || name.ends_with("_labels")) &&
         dist::localShape(type, mesh).front() == 1 && other.contains("cp: S(0");
}

/// The runtime fills parameters and data by these types; the program computes
/// as before. Programs for generation share them.
void placedElsewhere(func::FuncOp step, unsigned index, Mutants &mutants) {
  std::string program = step.getName().str();
  StringAttr name = nameOf(step, index);
  if (!name)
    return;
  RankedTensorType type = globalType(step, index);
  for (RankedTensorType other :
       otherPlaces(type, dist::meshOf(step).getAxes())) {
    std::string otherText = text(other), nameText = name.str();
    mutants.push_back({Stage::Localized, "input filled for another placement",
                       name.str() + ", " + text(type) + " as " + otherText, "",
                       "", true, [=](ModuleOp module) {
                         Type other = parseType(otherText, module.getContext());
                         for (func::FuncOp func : programsOf(module))
                           if (func.getName() == program ||
                               nn::isGeneration(func))
                             placeElsewhere(func, nameText, other);
                       }});
    if (name.getValue().ends_with("key.bias"))
      mutants.back().mayBeRight = kKeyBias;
    else if (splitsOneOverStages(type, otherText))
      mutants.back().mayBeRight = kOnlyRow;
    else if (leavesToFirstRank(name, type, otherText, dist::meshOf(step)))
      mutants.back().mayBeRight = kFirstIsRead;
  }
}

} // namespace

Mutants
test::localizedMutants(ModuleOp localized,
                       llvm::function_ref<bool(StringRef opName)> isRead) {
  Mutants mutants;
  for (auto [number, op] : llvm::enumerate(opsOf(localized)))
    if (op->hasAttr(rt::RTDialect::kFactorsAttr) &&
        isRead(op->getName().getStringRef()))
      changeSpans(op, number, mutants);
  for (func::FuncOp step : programsOf(localized))
    for (unsigned k = 0; k < step.getNumArguments(); ++k)
      if (!nn::isGeneration(step) || !nn::isBeside(step))
        placedElsewhere(step, k, mutants);
  return mutants;
}
