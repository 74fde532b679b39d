//===- NumberValues.cpp - names by which runs are compared ----------------===//

#include "tessera/Dialect/NN/Functions.h"
#include "tessera/Dialect/NN/Marks.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/NN/NNProgram.h"
#include "tessera/Dialect/RT/RT.h"
#include "tessera/Options/MeshAxis.h"
#include "tessera/Partition/Passes.h"
#include "tessera/Partition/ValueNames.h"

namespace tessera {
#define GEN_PASS_DEF_NUMBERVALUESPASS
#include "tessera/Partition/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;
using namespace tessera::dist;

/// Returns the name of the op, or of the op that a formula stands for.
static StringRef kindOf(Operation *op) {
  auto formula = op->getAttrOfType<DictionaryAttr>(nn::kFormulaAttr);
  auto of = formula ? formula.getAs<StringAttr>("of") : StringAttr();
  return of ? of.getValue() : op->getName().stripDialect();
}

std::string tessera::kindAndPart(Operation *op) {
  StringRef part = nn::partOf(op->getLoc());
  return kindOf(op).str() + (part.empty() ? "" : " of " + part.str());
}

namespace {

struct NumberValuesPass
    : tessera::impl::NumberValuesPassBase<NumberValuesPass> {
  void runOnOperation() override {
    FailureOr<func::FuncOp> found = nn::findProgram(getOperation(), "step");
    if (failed(found))
      return signalPassFailure();
    MeshAttr mesh = meshOf(getOperation());
    hasStages = mesh && mesh.getSize(kPipelineAxis) > 1;
    hasFormulas = getOperation()->hasAttr(nn::kFormulaAttr);
    (*found).walk([&](DistributableOpInterface op) { number(op); });
  }

  std::string nextNumber(Operation *op);
  bool isUnnumbered(Operation *op) const;
  void number(Operation *op);
  void noteStep(Value result, NamedAttrList &entry);
  void noteChoice(Value result, NamedAttrList &entry);

  llvm::DenseMap<Value, StringAttr> names; ///< Names of the values so far.
  bool hasStages = false, hasFormulas = false;
  int64_t next = 0, sums = 0; ///< Sums since the last other value.
};

/// Sums of gradients are counted apart, after the value before them: stages
/// add in another order, which moves them.
std::string NumberValuesPass::nextNumber(Operation *op) {
  if (nn::isGradientSum(op))
    return std::to_string(next) + "+" + std::to_string(sums++);
  sums = 0;
  return std::to_string(next++);
}

bool hasPartialMaximum(Type type) {
  auto sharding = dyn_cast_or_null<ShardingAttr>(
      cast<RankedTensorType>(type).getEncoding());
  return sharding && llvm::any_of(sharding.getStates(), [](const AxisState &s) {
           return s.state.kind == State::M;
         });
}

/// Notes the names of the operands where a derivative jumps: there rounding of
/// the input decides the result, and the names say of which inputs. Conversions
/// between them hide the names, but the serial program has none.
void NumberValuesPass::noteStep(Value result, NamedAttrList &entry) {
  auto slope = result.getDefiningOp<nn::MapGradOp>();
  if (!slope ||
      !nn::infoOf(slope.getFunction()).has(nn::FunctionInfo::HasStepDerivative))
    return;
  StringAttr gradient = names.lookup(slope.getGrad());
  StringAttr input = names.lookup(slope.getInput());
  if (!gradient || !input)
    return;
  Builder builder(&getContext());
  entry.set("step", builder.getDictionaryAttr(
                        {builder.getNamedAttr("gradient", gradient),
                         builder.getNamedAttr("input", input)}));
}

/// Notes the logits of a choice: if they are nearly equal, rounding decides
/// which is the largest.
void NumberValuesPass::noteChoice(Value result, NamedAttrList &entry) {
  auto choice = result.getDefiningOp<nn::TopKOp>();
  StringAttr logits = choice ? names.lookup(choice.getLogits()) : nullptr;
  if (logits)
    entry.set("choice", logits);
}

/// A repetition is not in the serial program, nor is a mask, nor what one stage
/// adds up, nor the inside and the backward of a formula. What is committed is
/// compared as the parameter or moment that it becomes.
bool NumberValuesPass::isUnnumbered(Operation *op) const {
  return nn::isRecomputed(op) || isa<MaskOp, nn::CommitOp>(op) ||
         (hasStages && nn::isGradientSum(op)) ||
         op->hasAttrOfType<UnitAttr>(nn::kFormulaAttr) ||
         (hasFormulas && !nn::isForward(op));
}

/// The part of the model is for people: "17:einsum of h.1.mlp".
void NumberValuesPass::number(Operation *op) {
  if (isUnnumbered(op))
    return;
  Builder builder(&getContext());
  SmallVector<Attribute> kept;
  for (Value result : op->getResults()) {
    std::string name = nextNumber(op) + ":" + kindAndPart(op);
    // Candidates of a maximum denote nothing until they are compared.
    if (isa<nn::MaxOp>(op) && hasPartialMaximum(result.getType())) {
      kept.push_back(builder.getDictionaryAttr({}));
      continue;
    }
    names[result] = builder.getStringAttr(name);
    NamedAttrList entry;
    entry.set("name", names[result]);
    entry.set("global", TypeAttr::get(result.getType()));
    noteStep(result, entry);
    noteChoice(result, entry);
    kept.push_back(entry.getDictionary(&getContext()));
  }
  if (auto formula = op->getAttrOfType<DictionaryAttr>(nn::kFormulaAttr))
    next += formula.getAs<IntegerAttr>("results").getInt() - 1;
  op->setAttr(rt::RTDialect::kKeepAttr, builder.getArrayAttr(kept));
}

} // namespace
