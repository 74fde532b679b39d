//===- Mutant.cpp - one change of a program -------------------------------===//

#include "test/Mutation/Mutant.h"
#include "tessera/Dialect/NN/Marks.h"
#include "tessera/Dialect/RT/RT.h"
#include "tessera/Dialect/RT/RTProgram.h"

using namespace mlir;
using namespace tessera;

SmallVector<func::FuncOp> test::programsOf(ModuleOp module) {
  return llvm::filter_to_vector(
      module.getOps<func::FuncOp>(), [](func::FuncOp func) {
        return !func->hasAttr(rt::RTDialect::kScheduleAttr);
      });
}

std::vector<Operation *> test::opsOf(ModuleOp module) {
  std::vector<Operation *> ops;
  for (func::FuncOp program : programsOf(module))
    program.walk<WalkOrder::PreOrder>(
        [&](Operation *op) { ops.push_back(op); });
  return ops;
}

std::string test::phaseOf(Operation *op) {
  return nn::stringifyPhase(nn::phaseOf(op)).str();
}

bool test::needsPlace(Operation *op) {
  auto dropout = op->getAttrOfType<FloatAttr>("dropout");
  bool isAttention = isa<nn::AttentionOp, nn::AttentionGradOp, rt::AttentionOp,
                         rt::AttentionGradOp>(op);
  return !isAttention || (dropout && dropout.getValueAsDouble() > 0);
}

bool test::isFirstAlong(Operation *op, StringRef axis) {
  auto step = op->getParentOfType<func::FuncOp>();
  auto stage = step->getAttrOfType<IntegerAttr>(rt::RTDialect::kStageAttr);
  return stage && stage.getInt() == 0 && rt::stageAxisOf(step) == axis;
}

std::string test::describe(Operation *op) {
  std::string text = "'" + op->getName().getStringRef().str();
  if (auto launch = dyn_cast<rt::LaunchOp>(op))
    text += " @" + launch.getKernel().str();
  if (auto convert = dyn_cast<dist::ConvertOp>(op))
    text += " " + dist::stringifyConversionKind(convert.getKind()).str() +
            " on " + convert.getAxis().str();
  StringRef part = nn::partOf(op->getLoc());
  return text + "'" + (part.empty() ? "" : " of " + part.str()) + ", " +
         phaseOf(op);
}
