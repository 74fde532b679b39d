//===- SumOrderTest.cpp - sums of gradients, in another order and wrong ---===//
// Stages add the gradients of a shared value in another order than the serial
// program. Erasure must accept that, with stages only, and no other sum: each
// term of each sum of a T5 on pp=3 is replaced in turn.
//===----------------------------------------------------------------------===//

#include "mlir/Parser/Parser.h"
#include "tessera/Dialect/NN/Marks.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Distribute/Erasure.h"
#include "tessera/Import/Import.h"
#include "tessera/Pipelines/Compile.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace tessera;

namespace {

class SumOrderTest : public ::testing::Test {
protected:
  SumOrderTest()
      : context(
            [] {
              DialectRegistry registry;
              registerCompilerDialects(registry);
              return registry;
            }(),
            MLIRContext::Threading::DISABLED) {}

  /// Returns a step whose sums are `body`, of gradients %a, %b, %c, on a mesh.
  OwningOpRef<ModuleOp> sums(StringRef mesh, StringRef body) {
    std::string text =
        ("module attributes {dist.mesh = #dist.mesh<" + mesh +
         ">} {\nfunc.func @step(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
         "%a = nn.map relu %x : tensor<4xf32> -> tensor<4xf32>\n"
         "%b = nn.map exp %x : tensor<4xf32> -> tensor<4xf32>\n"
         "%c = nn.map log %x : tensor<4xf32> -> tensor<4xf32>\n" +
         body + "return %s : tensor<4xf32>\n}\n}\n")
            .str();
    return parseSourceString<ModuleOp>(text, &context);
  }

  static std::string add(StringRef name, StringRef left, StringRef right) {
    return (name + " = nn.add \"a,a->a\" " + left + ", " + right +
            " {nn.phase = #nn.phase<backward>} : (tensor<4xf32>, "
            "tensor<4xf32>) -> "
            "tensor<4xf32>\n")
        .str();
  }

  OwningOpRef<ModuleOp> step(const std::string &mesh) {
    PlanOptions options;
    EXPECT_EQ(options.mesh.parse(mesh), "");
    options.sizes.microBatches = 2;
    ImportOptions import;
    import.sizes.batch = 4;
    import.sizes.microBatches = 2;
    auto module = importModel(&context, SUM_ORDER_CONFIG, import);
    EXPECT_TRUE(succeeded(module) &&
                succeeded(distributeToStep(**module, options)));
    return std::move(*module);
  }

  MLIRContext context;
};

TEST_F(SumOrderTest, OrderIsFreeWithStagesOnly) {
  std::string left = add("%t", "%a", "%b") + add("%s", "%t", "%c");
  std::string right = add("%t", "%b", "%c") + add("%s", "%a", "%t");
  OwningOpRef<ModuleOp> serial = sums("pp = 2", left);
  EXPECT_EQ(compareErased(*sums("pp = 2", left), *serial), "");
  EXPECT_EQ(compareErased(*sums("pp = 2", right), *serial), "");
  EXPECT_NE(compareErased(*sums("dp = 2", right), *serial), "");
}

TEST_F(SumOrderTest, OtherTermsAreOtherSums) {
  OwningOpRef<ModuleOp> serial =
      sums("pp = 2", add("%t", "%a", "%b") + add("%s", "%t", "%c"));
  for (const std::string &wrong :
       {add("%t", "%b", "%b") + add("%s", "%a", "%t"),
        add("%t", "%b", "%c") + add("%s", "%b", "%t"),
        add("%t", "%b", "%c") + add("%s", "%t", "%t"), add("%s", "%a", "%b")})
    EXPECT_NE(compareErased(*sums("pp = 2", wrong), *serial), "") << wrong;
}

TEST_F(SumOrderTest, EveryTermOfAModelCounts) {
  OwningOpRef<ModuleOp> serial = step(""), parallel = step("pp=3");
  EXPECT_EQ(compareErased(*parallel, *serial), "");
  SmallVector<OpOperand *> terms;
  parallel->walk([&](Operation *op) {
    if (nn::isGradientSum(op))
      for (OpOperand &term : op->getOpOperands())
        terms.push_back(&term);
  });
  EXPECT_GT(terms.size(), 20u);
  for (OpOperand *term : terms) {
    Value right = term->get();
    unsigned other = 1 - term->getOperandNumber();
    term->set(term->getOwner()->getOperand(other)); // counts it twice
    EXPECT_NE(compareErased(*parallel, *serial), "")
        << nn::partOf(term->getOwner()->getLoc()).str();
    term->set(right);
  }
}

} // namespace
