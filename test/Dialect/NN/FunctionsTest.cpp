//===- FunctionsTest.cpp - the functions of nn.map ------------------------===//
// Every row of the table, evaluated by folding: what it says of the derivative
// and of padding follows from the formula.
//===----------------------------------------------------------------------===//

#include "tessera/Dialect/NN/Functions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinOps.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace tessera;

namespace {

using Formula = llvm::function_ref<Value(const nn::ScalarMath &, Value)>;

/// Folds the ops of a block in order and returns the value of the last one.
double foldAll(Block &block) {
  DenseMap<Value, Attribute> known;
  Attribute last;
  for (Operation &op : block) {
    SmallVector<Attribute> operands;
    for (Value operand : op.getOperands())
      operands.push_back(known[operand]);
    SmallVector<OpFoldResult> results;
    if (failed(op.fold(operands, results)) || results.size() != 1) {
      ADD_FAILURE() << op.getName().getStringRef().str() << " does not fold";
      return NAN;
    }
    auto same = dyn_cast<Value>(results[0]);
    last = same ? known[same] : cast<Attribute>(results[0]);
    known[op.getResult(0)] = last;
  }
  return cast<FloatAttr>(last).getValueAsDouble();
}

double evaluate(double at, Formula formula) {
  MLIRContext context;
  context.loadDialect<arith::ArithDialect, math::MathDialect>();
  Location loc = UnknownLoc::get(&context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  OpBuilder builder = OpBuilder::atBlockBegin(module->getBody());
  Value x =
      arith::ConstantOp::create(builder, loc, builder.getF64FloatAttr(at));
  formula({builder, loc}, x);
  return foldAll(*module->getBody());
}

constexpr double kBound = 0.75;

double valueOf(const nn::FunctionInfo &info, double at) {
  return evaluate(at, [&](const nn::ScalarMath &math, Value x) {
    return info.formula(math, x, kBound);
  });
}

/// Computes the slope by the four-point central difference; the error is of
/// order 4.
double slopeOf(const nn::FunctionInfo &info, double at) {
  constexpr double h = 1e-3;
  auto f = [&](double x) { return valueOf(info, x); };
  return (f(at - 2 * h) - 8 * f(at - h) + 8 * f(at + h) - f(at + 2 * h)) /
         (12 * h);
}

class Functions : public ::testing::TestWithParam<unsigned> {
public:
  const nn::FunctionInfo &info() const {
    return nn::infoOf(static_cast<nn::Function>(GetParam()));
  }
};

} // namespace

TEST_P(Functions, HasTheDerivativeOfItsFormula) {
  if (!info().derivative)
    return;
  for (double at : {0.2, 0.9, 1.7, 4.0}) {
    double slope = evaluate(at, info().derivative);
    EXPECT_NEAR(slope, slopeOf(info(), at), 1e-8 * (1 + std::abs(slope)))
        << "at " << at;
    if (info().has(nn::FunctionInfo::IsOwnDerivative)) {
      EXPECT_EQ(slope, valueOf(info(), at)) << "at " << at;
    }
  }
}

TEST_P(Functions, StepsWhereItSays) {
  if (!info().has(nn::FunctionInfo::HasStepDerivative))
    return;
  for (double at : {-4.0, -1e-9, 0.0, 1e-9, 4.0})
    EXPECT_EQ(evaluate(at, info().derivative), at > 0 ? 1 : 0) << "at " << at;
}

/// Returns whether padding that holds `value` is what the letter says.
bool holds(char letter, double value) {
  switch (letter) {
  case 'Z':
    return value == 0;
  case 'N':
    return value == -INFINITY;
  default:
    return letter == 'F' && std::isfinite(value);
  }
}

/// Values in padding by the table's columns: zeros, -inf, numbers.
const std::vector<std::vector<double>> kPaddings = {
    {0.0}, {-INFINITY}, {-1e3, -30, -1, -1e-3, 1e-3, 1, 30, 1e3}};

TEST_P(Functions, MakesOfPaddingWhatItSays) {
  auto check = [&](char letter, double at, auto function) {
    if (letter == 'X')
      return;
    double found = function();
    EXPECT_TRUE(holds(letter, found))
        << "at " << at << " the result is " << found << ", but the table says "
        << letter;
  };
  for (auto [k, values] : llvm::enumerate(kPaddings))
    for (double at : values) {
      check(info().padding[k], at, [&] { return valueOf(info(), at); });
      if (info().derivative)
        check(info().slopePadding[k], at,
              [&] { return evaluate(at, info().derivative); });
    }
}

/// A weaker letter than the truth would mask what needs no mask.
TEST_P(Functions, SaysThatZerosStay) {
  EXPECT_EQ(info().padding[0] == 'Z', valueOf(info(), 0.0) == 0)
      << "f(0) is " << valueOf(info(), 0.0);
}

TEST_P(Functions, TakesABoundIfItSaysSo) {
  auto withBound = [&](double bound) {
    return evaluate(0.5, [&](const nn::ScalarMath &math, Value x) {
      return info().formula(math, x, bound);
    });
  };
  EXPECT_EQ(info().has(nn::FunctionInfo::TakesBound),
            withBound(0.25) != withBound(0.4));
}

INSTANTIATE_TEST_SUITE_P(
    All, Functions, ::testing::Range(0U, nn::getMaxEnumValForFunction() + 1),
    [](const ::testing::TestParamInfo<unsigned> &param) {
      return nn::stringifyFunction(static_cast<nn::Function>(param.param))
          .str();
    });
