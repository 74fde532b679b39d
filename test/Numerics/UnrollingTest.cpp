//===- UnrollingTest.cpp - wrong steps of rows are not the model ----------===//
// Every operand of each causal model's programs for generation, replaced by
// every other value that it could read: compareUnrolled takes none of them for
// the model.
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/NN/NNProgram.h"
#include "tessera/Import/Import.h"
#include "tessera/Inference/Correspondence.h"
#include "tessera/Inference/Passes.h"
#include "tessera/Pipelines/Compile.h"
#include "test/Dialect/NN/OtherAttention.h"
#include "test/Models.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace tessera;

namespace {

/// The model, and what generates.
struct Programs {
  explicit Programs(const test::TestModel &model) {
    DialectRegistry registry;
    registerCompilerDialects(registry);
    context.appendDialectRegistry(registry);
    context.disableMultithreading();
    ImportOptions options;
    options.sizes.batch = 1;
    auto imported = importModel(&context, model.path(), options);
    EXPECT_TRUE(succeeded(imported));
    whole = std::move(*imported);
    steps = whole->clone();
    AddGenerationPassOptions sizes;
    sizes.slots = sizes.chunk = 2;
    PassManager manager(&context, ModuleOp::getOperationName());
    manager.addPass(createAddGenerationPass(sizes));
    EXPECT_TRUE(succeeded(manager.run(*steps)));
  }

  func::FuncOp loss() { return whole->lookupSymbol<func::FuncOp>("loss"); }
  func::FuncOp step(StringRef name) {
    return steps->lookupSymbol<func::FuncOp>(name);
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> whole, steps;
};

/// The values of a type that an op could read instead.
SmallVector<Value> othersOf(OpOperand &operand, func::FuncOp step) {
  SmallVector<Value> others(step.getArguments());
  for (Operation &op : step.getBody().front())
    if (op.isBeforeInBlock(operand.getOwner()))
      llvm::append_range(others, op.getResults());
  llvm::erase_if(others, [&](Value other) {
    return other == operand.get() || other.getType() != operand.get().getType();
  });
  return others;
}

class UnrollingTest : public ::testing::TestWithParam<test::TestModel> {};

TEST_P(UnrollingTest, OneWrongOperandIsAnotherModel) {
  Programs programs(GetParam());
  for (auto step : programs.steps->getOps<func::FuncOp>()) {
    StringRef name = step.getName();
    EXPECT_EQ(compareUnrolled(step, programs.loss()), "");
    int64_t mutants = 0;
    step.walk([&](Operation *op) {
      for (OpOperand &operand : op->getOpOperands()) {
        Value right = operand.get();
        for (Value wrong : othersOf(operand, step)) {
          operand.set(wrong);
          ++mutants;
          EXPECT_NE(compareUnrolled(step, programs.loss()), "")
              << name.str() << ": operand " << operand.getOperandNumber()
              << " of " << op->getName().getStringRef().str();
        }
        operand.set(right);
      }
    });
    EXPECT_GT(mutants, 300);
  }
}

TEST_P(UnrollingTest, AnotherScaleOrWindowIsAnotherModel) {
  Programs programs(GetParam());
  func::FuncOp step = programs.step("decode");
  for (auto op : step.getOps<nn::CachedAttentionOp>()) {
    nn::AttentionAttr own = op.getAttention();
    op.setAttentionAttr(test::withScale(own, 0.75));
    EXPECT_NE(compareUnrolled(step, programs.loss()), "");
    op.setAttentionAttr(test::withWindow(own, 4));
    EXPECT_NE(compareUnrolled(step, programs.loss()), "");
    op.setAttentionAttr(own);
  }
  EXPECT_EQ(compareUnrolled(step, programs.loss()), "");
}

INSTANTIATE_TEST_SUITE_P(
    Models, UnrollingTest,
    ::testing::ValuesIn(test::testModels(&test::TestModel::isCausal)),
    test::NameOfModel());

} // namespace
