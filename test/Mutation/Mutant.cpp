//===- Mutant.cpp - one change of a program -------------------------------===//

#include "Mutant.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/RT/RT.h"

using namespace mlir;
using namespace tessera;

std::vector<Operation *> test::opsOf(ModuleOp module) {
  std::vector<Operation *> ops;
  module.lookupSymbol<func::FuncOp>("step").walk<WalkOrder::PreOrder>(
      [&](Operation *op) { ops.push_back(op); });
  return ops;
}

std::string test::phaseOf(Operation *op) {
  for (; op && !isa<func::FuncOp>(op); op = op->getParentOp())
    if (auto phase = op->getAttrOfType<StringAttr>(nn::NNDialect::kPhaseAttr))
      return phase.str();
  return "forward";
}

std::string test::describe(Operation *op) {
  std::string text = "'" + op->getName().getStringRef().str();
  if (auto launch = dyn_cast<rt::LaunchOp>(op))
    text += " @" + launch.getKernel().str();
  if (auto convert = dyn_cast<dist::ConvertOp>(op))
    text += " " + convert.getHow().str() + " on " + convert.getAxis().str();
  StringRef part = nn::partOf(op->getLoc());
  return text + "'" + (part.empty() ? "" : " of " + part.str()) + ", " +
         phaseOf(op);
}
