//===- EncodedModelTest.cpp - wrong programs are not the encoder ----------===//
// Every operand of the program for encoding, replaced by every other value that
// it could read: compareEncoded takes none of them for the model.
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Import/Import.h"
#include "tessera/Inference/Correspondence.h"
#include "tessera/Inference/Passes.h"
#include "tessera/Pipelines/Compile.h"
#include "test/Numerics/Model.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace tessera;

namespace {

/// Models of two layers each; T5's second decoder layer makes its stack another
/// one.
constexpr const char *kBert =
    R"({"model_type": "bert", "num_hidden_layers": 2, "hidden_size": 8,
        "intermediate_size": 8, "num_attention_heads": 2,
        "max_position_embeddings": 9, "vocab_size": 8, "mask_token_id": 7})";
constexpr const char *kT5 =
    R"({"model_type": "t5", "num_layers": 2, "d_model": 8, "d_kv": 4, "d_ff": 8,
        "num_heads": 2, "vocab_size": 8, "feed_forward_proj": "gated-gelu",
        "relative_attention_num_buckets": 8, "dropout_rate": 0.1})";

/// The model, and what encodes. As many positions as the sequence has, so that
/// values before and behind their choice are of one type.
class EncodedModelTest : public ::testing::Test {
protected:
  void SetUp() override {
    DialectRegistry registry;
    registerCompilerDialects(registry);
    context.appendDialectRegistry(registry);
    context.disableMultithreading();
  }

  void make(const char *config, int64_t predictions) {
    ImportOptions options;
    options.sizes.batch = 2;
    options.sizes.sequence = 6;
    options.sizes.paddingMask = true;
    auto imported = importModel(
        &context, test::scratchFile("config.json", config), options);
    ASSERT_TRUE(succeeded(imported));
    whole = std::move(*imported);
    encoding = whole->clone();
    AddEncodingPassOptions sizes;
    sizes.predictions = predictions;
    PassManager manager(&context, ModuleOp::getOperationName());
    manager.addPass(createAddEncodingPass(sizes));
    ASSERT_TRUE(succeeded(manager.run(*encoding)));
    loss = whole->lookupSymbol<func::FuncOp>("loss");
    program = encoding->lookupSymbol<func::FuncOp>("encode");
    ASSERT_EQ(compareEncoded(program, loss), "");
  }

  /// The values of a type that an op could read instead.
  SmallVector<Value> othersOf(OpOperand &operand) {
    SmallVector<Value> others(program.getArguments());
    for (Operation &op : program.getBody().front())
      if (op.isBeforeInBlock(operand.getOwner()))
        llvm::append_range(others, op.getResults());
    llvm::erase_if(others, [&](Value other) {
      return other == operand.get() ||
             other.getType() != operand.get().getType();
    });
    return others;
  }

  void expectNoMutant(int64_t least) {
    int64_t mutants = 0;
    program.walk([&](Operation *op) {
      for (OpOperand &operand : op->getOpOperands()) {
        Value right = operand.get();
        for (Value wrong : othersOf(operand)) {
          operand.set(wrong);
          ++mutants;
          EXPECT_NE(compareEncoded(program, loss), "")
              << "operand " << operand.getOperandNumber() << " of "
              << op->getName().getStringRef().str();
        }
        operand.set(right);
      }
    });
    EXPECT_GT(mutants, least);
  }

  void expectNoOtherAttribute() {
    Builder b(&context);
    for (auto op : program.getOps<nn::AttentionOp>()) {
      FloatAttr scale = op.getScaleAttr();
      op.setScaleAttr(b.getF64FloatAttr(0.75));
      EXPECT_NE(compareEncoded(program, loss), "");
      op.setScaleAttr(scale);
      op.setDropoutAttr(b.getF64FloatAttr(0.1));
      EXPECT_NE(compareEncoded(program, loss), "");
      op.setDropoutAttr(b.getF64FloatAttr(0.0));
    }
    EXPECT_EQ(compareEncoded(program, loss), "");
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> whole, encoding;
  func::FuncOp loss, program;
};

TEST_F(EncodedModelTest, OneWrongOperandIsAnotherModel) {
  make(kBert, /*predictions=*/6);
  expectNoMutant(300);
}

TEST_F(EncodedModelTest, OneWrongOperandIsAnotherEncoder) {
  make(kT5, /*predictions=*/0);
  expectNoMutant(200);
}

TEST_F(EncodedModelTest, AnotherAttributeIsAnotherModel) {
  make(kBert, /*predictions=*/6);
  expectNoOtherAttribute();
  Builder b(&context);
  for (auto op : program.getOps<nn::LayerNormOp>()) {
    FloatAttr epsilon = op.getEpsilonAttr();
    op.setEpsilonAttr(b.getF64FloatAttr(0.5));
    EXPECT_NE(compareEncoded(program, loss), "");
    op.setEpsilonAttr(epsilon);
  }
  EXPECT_EQ(compareEncoded(program, loss), "");
}

TEST_F(EncodedModelTest, AnotherAttributeIsAnotherEncoder) {
  make(kT5, /*predictions=*/0);
  expectNoOtherAttribute();
  Builder b(&context);
  for (auto op : program.getOps<nn::AttentionOp>()) {
    op.setCausal(true);
    EXPECT_NE(compareEncoded(program, loss), "");
    op.setCausal(false);
  }
  EXPECT_EQ(compareEncoded(program, loss), "");
}

TEST_F(EncodedModelTest, AProgramWithoutAChoiceIsAnother) {
  make(kBert, /*predictions=*/6);
  nn::TakeOp take = *program.getOps<nn::TakeOp>().begin();
  take.getOutput().replaceAllUsesWith(take.getInput());
  take->erase();
  EXPECT_EQ(compareEncoded(program, loss),
            "it takes no rows before the vocabulary");
}

TEST_F(EncodedModelTest, AnEncoderWithoutItsLastNormIsAnother) {
  make(kT5, /*predictions=*/0);
  Operation *ret = program.getBody().front().getTerminator();
  Operation *norm = ret->getOperand(0).getDefiningOp();
  ret->setOperand(0, norm->getOperand(0));
  EXPECT_EQ(compareEncoded(program, loss),
            "it does not return the encoder's hidden states alone");
  norm->erase();
  EXPECT_NE(compareEncoded(program, loss).find("of the model is left out"),
            std::string::npos);
}

} // namespace
