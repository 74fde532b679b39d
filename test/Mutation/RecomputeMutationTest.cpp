//===- RecomputeMutationTest.cpp - a wrong repetition does not verify -----===//
// Every op that --recompute full repeats in the training step of a two-layer
// GPT-2 with dropout on dp=2,tp=2 gets another attribute, another operand, or
// loses its mark. Types or erasure must refuse each such program.
//===----------------------------------------------------------------------===//

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Verifier.h"
#include "tessera/Dialect/NN/Marks.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Distribute/Erasure.h"
#include "tessera/Import/Import.h"
#include "tessera/Pipelines/Compile.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace tessera;

namespace {

/// Returns a number, changed; null for what is no number.
Attribute changed(Attribute attribute) {
  Builder b(attribute.getContext());
  if (auto real = dyn_cast<FloatAttr>(attribute))
    return b.getF64FloatAttr(real.getValueAsDouble() / 2 + 0.01);
  if (auto integer = dyn_cast<IntegerAttr>(attribute);
      integer && integer.getType().isInteger(64))
    return b.getI64IntegerAttr(integer.getInt() + 2);
  if (auto reals = dyn_cast<DenseF64ArrayAttr>(attribute)) {
    SmallVector<double> values(reals.asArrayRef());
    values.back() *= 2;
    return b.getDenseF64ArrayAttr(values);
  }
  return {};
}

/// Returns a value of the same type that another part of the model makes.
Value another(Operation *clone, Value operand) {
  Operation *made = operand.getDefiningOp();
  StringRef part = made ? nn::partOf(made->getLoc()) : "";
  for (Operation *op = clone->getPrevNode(); op; op = op->getPrevNode())
    for (Value result : op->getResults())
      if (result.getType() == operand.getType() && result != operand &&
          nn::partOf(op->getLoc()) != part)
        return result;
  return {};
}

class RecomputeMutationTest : public ::testing::Test {
protected:
  RecomputeMutationTest()
      : context(
            [] {
              DialectRegistry registry;
              registerCompilerDialects(registry);
              return registry;
            }(),
            MLIRContext::Threading::DISABLED) {
    context.getDiagEngine().registerHandler(
        [](Diagnostic &) { return success(); });
    serial = step({});
    PlanOptions options;
    options.mesh.parse("dp=2,tp=2");
    options.memory.recompute = Recompute::Full;
    parallel = step(options);
    parallel->walk([&](Operation *op) {
      if (op->hasAttr(nn::NNDialect::kPhaseAttr) && nn::isRecomputed(op))
        clones.push_back(op);
    });
  }

  OwningOpRef<ModuleOp> step(const PlanOptions &options) {
    ImportOptions import;
    import.sizes.batch = 4;
    auto module = importModel(&context, MUTATION_CONFIG, import);
    EXPECT_TRUE(succeeded(module) &&
                succeeded(distributeToStep(**module, options)));
    return std::move(*module);
  }

  /// Applies `mutate`, judges, and takes it back.
  void expectRefused(Operation *op, StringRef what,
                     function_ref<void(Operation *)> mutate) {
    IRMapping map;
    OwningOpRef<ModuleOp> copy(
        cast<ModuleOp>(parallel->getOperation()->clone(map)));
    mutate(map.lookup(op));
    bool refused = failed(retype(copy->lookupSymbol<func::FuncOp>("step"))) ||
                   failed(verify(*copy)) ||
                   !compareErased(*copy, *serial, "step").empty();
    EXPECT_TRUE(refused) << what.str() << " of "
                         << op->getName().getStringRef().str() << " in "
                         << nn::partOf(op->getLoc()).str();
    ++mutants;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> serial, parallel;
  std::vector<Operation *> clones;
  int mutants = 0;
};

TEST_F(RecomputeMutationTest, TheProgramItselfIsTheSerialOne) {
  EXPECT_EQ(compareErased(*parallel, *serial, "step"), "");
  EXPECT_GT(clones.size(), 30u);
}

TEST_F(RecomputeMutationTest, AnotherAttributeIsRefused) {
  for (Operation *op : clones)
    for (NamedAttribute attribute : op->getAttrs())
      if (Attribute other = changed(attribute.getValue()))
        expectRefused(op, attribute.getName(), [&](Operation *copy) {
          copy->setAttr(attribute.getName(), other);
        });
  EXPECT_GE(mutants, 20) << "scales, streams, probabilities, epsilons";
}

TEST_F(RecomputeMutationTest, AnotherOperandIsRefused) {
  for (Operation *op : clones)
    for (OpOperand &operand : op->getOpOperands())
      if (Value other = another(op, operand.get()))
        expectRefused(op, "operand", [&](Operation *copy) {
          // The copy has the same ops in the same order.
          Operation *place = op, *found = copy;
          while (place != other.getDefiningOp()) {
            place = place->getPrevNode();
            found = found->getPrevNode();
          }
          copy->setOperand(
              operand.getOperandNumber(),
              found->getResult(cast<OpResult>(other).getResultNumber()));
        });
  EXPECT_GE(mutants, 20);
}

TEST_F(RecomputeMutationTest, AnUnmarkedRepetitionIsRefused) {
  for (Operation *op : clones)
    if (!isa<dist::ConvertOp>(op)) // Erased in any case.
      expectRefused(op, "mark", [](Operation *copy) {
        copy->removeAttr(nn::NNDialect::kPhaseAttr);
      });
}

} // namespace
