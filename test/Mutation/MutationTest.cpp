//===- MutationTest.cpp - no wrong program verifies -----------------------===//
// Every conversion of the training step of a two-layer GPT-2 on dp=2,tp=2 is
// deleted, changed and rewired in turn, forward and backward and in the
// optimizer. Each mutant must be caught by types or by erasure, or be the
// serial program under other conversions. The table of kills is printed.
//===----------------------------------------------------------------------===//

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "tessera/Analysis/Erasure.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Import/Import.h"
#include "tessera/Transforms/Passes.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace tessera;

namespace {

enum class Caught { Types, Erasure, None };

struct Counts {
  int types = 0, erasure = 0, right = 0;
};

class MutationTest : public ::testing::Test {
protected:
  void SetUp() override {
    context.loadDialect<nn::NNDialect, dist::DistDialect, func::FuncDialect>();
    context.getDiagEngine().registerHandler(
        [](Diagnostic &) { return success(); });
    serial = build("");
    parallel = build("dp=2,tp=2");
    ASSERT_TRUE(serial && parallel);
  }

  OwningOpRef<ModuleOp> build(const std::string &mesh) {
    ImportOptions options;
    options.batch = 4;
    options.microBatches = 1;
    auto module = importModel(&context, MUTATION_CONFIG, options);
    if (failed(module))
      return nullptr;
    PassManager manager(&context);
    if (!mesh.empty()) {
      DistributePassOptions distribute;
      distribute.mesh = mesh;
      manager.addPass(createDistributePass(distribute));
    }
    manager.addPass(createDifferentiatePass());
    manager.addPass(createMicroBatchPass());
    manager.addPass(createAddOptimizerPass());
    if (failed(manager.run(**module)))
      return nullptr;
    return std::move(*module);
  }

  /// The k-th conversion of a module.
  static dist::ConvertOp conversion(ModuleOp module, unsigned k) {
    dist::ConvertOp found;
    module.walk([&](dist::ConvertOp op) {
      if (k-- != 0)
        return WalkResult::advance();
      found = op;
      return WalkResult::interrupt();
    });
    return found;
  }

  unsigned conversions() {
    unsigned n = 0;
    parallel->walk([&](dist::ConvertOp) { ++n; });
    return n;
  }

  Caught judge(ModuleOp mutant) {
    auto func = mutant.lookupSymbol<func::FuncOp>("step");
    if (failed(retype(func)))
      return Caught::Types;
    if (!compareErased(mutant, *serial).empty())
      return Caught::Erasure;
    return Caught::None;
  }

  void count(Counts &counts, Caught by) {
    counts.types += by == Caught::Types;
    counts.erasure += by == Caught::Erasure;
    counts.right += by == Caught::None;
  }

  static void print(const char *what, const Counts &c) {
    std::printf("  %-34s types %4d   erasure %4d   other correct %4d\n", what,
                c.types, c.erasure, c.right);
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> serial, parallel;
};

/// States that a value could have on an axis.
SmallVector<dist::State> candidates(dist::ConvertOp op) {
  using dist::State;
  SmallVector<State> states = {{State::I}, {State::R}, {State::P}};
  auto type = cast<RankedTensorType>(op.getInput().getType());
  auto others = dist::withState(type, op.getAxis(), {State::I});
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    states.push_back(State::sharded(dim, dist::axesOf(others, dim).size()));
  return states;
}

/// A program that types and erases to the serial one is right whatever its
/// conversions are: the specification shows this numerically. What this test
/// adds for the compiler: how few such mutants there are, and of what kind.
TEST_F(MutationTest, DeletedConversions) {
  Counts counts;
  for (unsigned k = 0, n = conversions(); k < n; ++k) {
    OwningOpRef<ModuleOp> mutant = parallel->clone();
    dist::ConvertOp op = conversion(*mutant, k);
    op.getOutput().replaceAllUsesWith(op.getInput());
    op.erase();
    Caught by = judge(*mutant);
    count(counts, by);
    EXPECT_NE(by, Caught::None) << "conversion " << k << " can be deleted";
  }
  print("conversion deleted", counts);
  EXPECT_GT(counts.types, 0);
}

TEST_F(MutationTest, ChangedConversions) {
  Counts counts;
  for (unsigned k = 0, n = conversions(); k < n; ++k) {
    dist::ConvertOp original = conversion(*parallel, k);
    for (dist::State to : candidates(original)) {
      if (to == original.getTo() ||
          !dist::findConversion(original.getFrom(), to))
        continue;
      OwningOpRef<ModuleOp> mutant = parallel->clone();
      dist::ConvertOp op = conversion(*mutant, k);
      OpBuilder builder(op);
      Value other = dist::ConvertOp::create(builder, op.getLoc(), op.getInput(),
                                            op.getAxis(), to);
      op.getOutput().replaceAllUsesWith(other);
      op.erase();
      count(counts, judge(*mutant));
    }
  }
  print("conversion of another kind", counts);
  EXPECT_GT(counts.types, 100);
  // The loss and every gradient that is I may only be I: what is left are
  // conversions of activations that another conversion undoes.
  EXPECT_LT(counts.right, counts.types / 10);
}

TEST_F(MutationTest, RewiredConversions) {
  Counts counts;
  for (unsigned k = 0, n = conversions(); k < n; ++k) {
    OwningOpRef<ModuleOp> mutant = parallel->clone();
    dist::ConvertOp op = conversion(*mutant, k);
    Value other;
    for (Operation *before = op->getPrevNode(); before && !other;
         before = before->getPrevNode())
      for (Value result : before->getResults())
        if (result != op.getInput() &&
            result.getType() == op.getInput().getType() &&
            !isa<dist::ConvertOp>(before))
          other = result;
    if (!other)
      continue;
    op.getInputMutable().assign(other);
    Caught by = judge(*mutant);
    count(counts, by);
    EXPECT_NE(by, Caught::None) << "conversion " << k << " can be rewired";
  }
  print("conversion of another value", counts);
  EXPECT_GT(counts.erasure, 10);
}

TEST_F(MutationTest, InputsInAnotherState) {
  Counts counts;
  auto step = parallel->lookupSymbol<func::FuncOp>("step");
  for (unsigned k = 0; k < step.getNumArguments(); ++k) {
    for (StringRef axis : {"dp", "tp"}) {
      for (dist::State::Kind kind :
           {dist::State::I, dist::State::R, dist::State::P}) {
        auto type = cast<RankedTensorType>(step.getArgument(k).getType());
        if (dist::stateOf(type, axis).kind == kind)
          continue;
        OwningOpRef<ModuleOp> mutant = parallel->clone();
        auto func = mutant->lookupSymbol<func::FuncOp>("step");
        auto changed = dist::withState(type, axis, {kind});
        if (!dist::checkLevels(changed).empty())
          continue;
        func.getArgument(k).setType(changed);
        Caught by = judge(*mutant);
        count(counts, by);
        EXPECT_NE(by, Caught::None)
            << "input " << k << " may be in state " << dist::State{kind}.str()
            << " on " << axis.str();
      }
    }
  }
  print("input in another state", counts);
}

/// The unchanged program passes: the judge is not simply strict.
TEST_F(MutationTest, TheProgramItselfIsRight) {
  EXPECT_EQ(judge(*parallel), Caught::None);
}

} // namespace
