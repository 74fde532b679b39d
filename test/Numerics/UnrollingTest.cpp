//===- UnrollingTest.cpp - wrong steps of rows are not the model ----------===//
// Every operand of the programs for generation, replaced by every other value
// that it could read: compareUnrolled takes none of them for the model.
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
#include "test/Numerics/Model.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace tessera;

namespace {

const char *const kModels[] = {
    R"({"model_type": "gpt2", "n_layer": 2, "n_head": 4, "n_embd": 32,
        "n_positions": 16, "vocab_size": 61, "resid_pdrop": 0.1})",
    R"({"model_type": "mistral", "num_hidden_layers": 2, "hidden_size": 32,
        "intermediate_size": 44, "num_attention_heads": 4,
        "num_key_value_heads": 2, "max_position_embeddings": 16,
        "vocab_size": 61, "rms_norm_eps": 1e-5, "hidden_act": "silu",
        "sliding_window": 5})",
    R"({"model_type": "qwen2", "num_hidden_layers": 2, "hidden_size": 32,
        "intermediate_size": 44, "num_attention_heads": 4,
        "num_key_value_heads": 1, "max_position_embeddings": 16,
        "vocab_size": 61, "rms_norm_eps": 1e-5, "hidden_act": "silu"})",
    R"({"model_type": "mixtral", "num_hidden_layers": 2, "hidden_size": 32,
        "intermediate_size": 44, "num_attention_heads": 4,
        "num_key_value_heads": 2, "max_position_embeddings": 16,
        "vocab_size": 61, "rms_norm_eps": 1e-5, "hidden_act": "silu",
        "num_local_experts": 4, "num_experts_per_tok": 2})"};

/// The model, and what generates.
struct Programs {
  explicit Programs(const char *config) {
    DialectRegistry registry;
    registerCompilerDialects(registry);
    context.appendDialectRegistry(registry);
    context.disableMultithreading();
    ImportOptions options;
    options.sizes.batch = 1;
    auto imported = importModel(
        &context, test::scratchFile("config.json", config), options);
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

class UnrollingTest : public ::testing::TestWithParam<int> {};

TEST_P(UnrollingTest, OneWrongOperandIsAnotherModel) {
  Programs programs(kModels[GetParam()]);
  for (StringRef name : {"decode", "mixed", "score"}) {
    func::FuncOp step = programs.step(name);
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
  Programs programs(kModels[GetParam()]);
  func::FuncOp step = programs.step("decode");
  Builder b(&programs.context);
  for (auto op : step.getOps<nn::CachedAttentionOp>()) {
    Attribute scale = op.getScaleAttr(), window = op.getWindowAttr();
    op.setScaleAttr(b.getF64FloatAttr(0.75));
    EXPECT_NE(compareUnrolled(step, programs.loss()), "");
    op.setScaleAttr(cast<FloatAttr>(scale));
    op.setWindowAttr(b.getI64IntegerAttr(4));
    EXPECT_NE(compareUnrolled(step, programs.loss()), "");
    op.setWindowAttr(cast<IntegerAttr>(window));
  }
  EXPECT_EQ(compareUnrolled(step, programs.loss()), "");
}

INSTANTIATE_TEST_SUITE_P(Models, UnrollingTest,
                         ::testing::Range(0, int(std::size(kModels))));

} // namespace
