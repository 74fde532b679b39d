//===- PaddingTableTest.cpp - what ops make of padding is specified -------===//
// For every op of paddings.txt, along each factor and from every combination of
// what its operands hold there: the compiler says what the specification does,
// or less.
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "tessera/Dialect/NN/NN.h"
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

using namespace mlir;
using namespace tessera;
using dist::Padding;

namespace {

/// Types of the operands of an op, `(a, b) -> c` or `a -> c`.
std::string operandTypes(const std::string &op) {
  std::string types = op.substr(op.rfind(" : ") + 3);
  types = types.substr(0, types.find(" -> "));
  return types.front() == '(' ? types.substr(1, types.size() - 2) : types;
}

class PaddingTable : public ::testing::Test {
protected:
  PaddingTable() {
    context.loadDialect<nn::NNDialect, dist::DistDialect, func::FuncDialect>();
  }

  /// Makes an op the one that the next lines are about.
  void read(const std::string &op) {
    std::string arguments;
    std::istringstream types(operandTypes(op));
    int count = 0;
    for (std::string type; std::getline(types, type, ',');)
      arguments += (count ? ", %" : "%") + std::to_string(count) + ": " + type,
          ++count;
    module =
        parseSourceString<ModuleOp>("func.func @f(" + arguments + ") {\n  " +
                                        results(op) + op + "\n  return\n}\n",
                                    &context);
    ASSERT_TRUE(module) << op;
    module->walk(
        [&](dist::DistributableOpInterface found) { current = found; });
  }

  static std::string results(const std::string &op) {
    bool three = op.find("attention_grad") != std::string::npos;
    bool two = op.rfind("nn.attention %", 0) == 0;
    return three ? "%r:3 = " : two ? "%r:2 = " : "%r = ";
  }

  /// Checks a line such as `0 1:0 Z F -> Z`.
  void check(const std::string &line, bool isExact) {
    std::istringstream words(line);
    unsigned result, operand, dim;
    char colon;
    words >> result >> operand >> colon >> dim;
    SmallVector<Padding> held;
    std::string word;
    while (words >> word && word != "->")
      held.push_back(*dist::symbolizePadding(word));
    words >> word;
    Padding specified = *dist::symbolizePadding(word);
    // The specification says nothing of operands that lend only their shape.
    held.resize(current->getNumOperands(), Padding::Finite);
    char factor = current.getSignature(result).ins[operand][dim];
    Padding found = current.getPadding(result, factor, held);
    EXPECT_TRUE(isExact ? found == specified : dist::isWithin(specified, found))
        << current->getName().getStringRef().str() << " " << line << ", but is "
        << dist::stringifyPadding(found).str();
    ++checked;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  dist::DistributableOpInterface current;
  int checked = 0;
};

} // namespace

TEST_F(PaddingTable, IsTheSpecifications) {
  std::ifstream file(PADDING_TABLE);
  ASSERT_TRUE(file.is_open()) << PADDING_TABLE;
  bool isExact = true;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string what, certainty;
    words >> what;
    if (what == "op") {
      words >> certainty >> std::ws;
      isExact = certainty == "exact";
      std::string op;
      std::getline(words, op);
      ASSERT_NO_FATAL_FAILURE(read(op));
    } else if (what == "padding") {
      check(line.substr(what.size() + 1), isExact);
    } else {
      EXPECT_EQ(what, "#") << line;
    }
  }
  EXPECT_GT(checked, 3000);
}
