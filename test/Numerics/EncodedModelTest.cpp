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
#include "test/Dialect/NN/OtherAttention.h"
#include "test/Models.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace tessera;

namespace {

/// The model, and what encodes. A masked model predicts as many positions as
/// the sequence has, so that values before and behind their choice are of one
/// type.
class EncodedModelTest : public ::testing::TestWithParam<test::TestModel> {
protected:
  void SetUp() override {
    DialectRegistry registry;
    registerCompilerDialects(registry);
    context.appendDialectRegistry(registry);
    context.disableMultithreading();
    ImportOptions options;
    options.sizes.batch = 2;
    options.sizes.sequence = kSequence;
    options.sizes.paddingMask = true;
    auto imported = importModel(&context, GetParam().path(), options);
    ASSERT_TRUE(succeeded(imported));
    whole = std::move(*imported);
    encoding = whole->clone();
    AddEncodingPassOptions sizes;
    sizes.predictions = GetParam().isMasked() ? kSequence : 0;
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

  static constexpr int64_t kSequence = 6;
  MLIRContext context;
  OwningOpRef<ModuleOp> whole, encoding;
  func::FuncOp loss, program;
};

TEST_P(EncodedModelTest, OneWrongOperandIsAnotherModel) {
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
  EXPECT_GT(mutants, 200);
}

TEST_P(EncodedModelTest, AnotherAttributeIsAnotherModel) {
  Builder b(&context);
  for (auto op : program.getOps<nn::AttentionOp>()) {
    nn::AttentionAttr own = op.getAttention();
    op.setAttentionAttr(test::withScale(own, 0.75));
    EXPECT_NE(compareEncoded(program, loss), "");
    op.setAttentionAttr(test::withWindow(own, 0));
    EXPECT_NE(compareEncoded(program, loss), "");
    op.setAttentionAttr(own);
    op.setDropoutAttr(b.getF64FloatAttr(0.1));
    EXPECT_NE(compareEncoded(program, loss), "");
    op.setDropoutAttr(b.getF64FloatAttr(0.0));
  }
  for (auto op : program.getOps<nn::LayerNormOp>()) {
    FloatAttr epsilon = op.getEpsilonAttr();
    op.setEpsilonAttr(b.getF64FloatAttr(0.5));
    EXPECT_NE(compareEncoded(program, loss), "");
    op.setEpsilonAttr(epsilon);
  }
  EXPECT_EQ(compareEncoded(program, loss), "");
}

INSTANTIATE_TEST_SUITE_P(
    Models, EncodedModelTest,
    ::testing::ValuesIn(test::testModels(&test::TestModel::encodes)),
    test::NameOfModel());

/// An encoder that returns its hidden states, and logits of some positions.
using MaskedModelTest = EncodedModelTest;
TEST_P(MaskedModelTest, AProgramWithoutAChoiceIsAnother) {
  nn::TakeOp take = *program.getOps<nn::TakeOp>().begin();
  take.getOutput().replaceAllUsesWith(take.getInput());
  take->erase();
  EXPECT_EQ(compareEncoded(program, loss),
            "it takes no rows before the vocabulary");
}
INSTANTIATE_TEST_SUITE_P(
    Models, MaskedModelTest,
    ::testing::ValuesIn(test::testModels(&test::TestModel::isMasked)),
    test::NameOfModel());

/// The encoder of a pair.
using EncoderOfPairTest = EncodedModelTest;
TEST_P(EncoderOfPairTest, WithoutItsLastNormIsAnother) {
  Operation *ret = program.getBody().front().getTerminator();
  Operation *norm = ret->getOperand(0).getDefiningOp();
  ret->setOperand(0, norm->getOperand(0));
  EXPECT_EQ(compareEncoded(program, loss),
            "it does not return the encoder's hidden states alone");
  norm->erase();
  EXPECT_NE(compareEncoded(program, loss).find("of the model is left out"),
            std::string::npos);
}
INSTANTIATE_TEST_SUITE_P(
    Models, EncoderOfPairTest,
    ::testing::ValuesIn(test::testModels(&test::TestModel::isPair)),
    test::NameOfModel());

} // namespace
