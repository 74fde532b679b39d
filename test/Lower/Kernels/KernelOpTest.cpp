//===- KernelOpTest.cpp - ops of another dialect in kernels ---------------===//
// The passes on kernels know ops by their interface alone: ops of a dialect
// that the compiler has never heard of are fused, masked, generated and run.
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "tessera/Dialect/NN/Functions.h"
#include "tessera/Lower/Kernels/BufferSharing.h"
#include "tessera/Lower/Kernels/KernelOpInterface.h"
#include "tessera/Lower/Passes.h"
#include "test/Codegen/Kernels/KernelHarness.h"
#include <cmath>

using namespace mlir;
using namespace tessera;

namespace kernel_op_test {

/// An elementwise op of one operand.
template <typename ConcreteOp>
class PointwiseOp : public Op<ConcreteOp, OpTrait::ZeroRegions,
                              OpTrait::OneResult, OpTrait::ZeroSuccessors,
                              OpTrait::OneOperand, KernelOpInterface::Trait> {
public:
  using Base = Op<ConcreteOp, OpTrait::ZeroRegions, OpTrait::OneResult,
                  OpTrait::ZeroSuccessors, OpTrait::OneOperand,
                  KernelOpInterface::Trait>;
  using Base::Base;
  static ArrayRef<StringRef> getAttributeNames() { return {}; }

  std::optional<KernelSpace> getKernelSpace() {
    auto type = cast<RankedTensorType>(this->getOperand().getType());
    return spaceOf(this->getOperation(),
                   dist::Signature::elementwise(type.getRank(), 1));
  }
};

/// 1 / (1 + exp(-x)), which is not 0 at 0.
class SigmoidOp : public PointwiseOp<SigmoidOp> {
public:
  using PointwiseOp::PointwiseOp;
  static StringRef getOperationName() { return "test.sigmoid"; }

  FailureOr<ElementBody> buildElementBody(KernelScope &) {
    Location loc = getLoc();
    return ElementBody([=](OpBuilder &b, ValueRange x) {
      nn::ScalarMath math{b, loc};
      Value e = math::ExpOp::create(b, loc, math.sub(0.0, x[0]));
      return math.div(1.0, math.add(e, 1.0));
    });
  }
};

/// An op that forgot its body.
class BodylessOp : public PointwiseOp<BodylessOp> {
public:
  using PointwiseOp::PointwiseOp;
  static StringRef getOperationName() { return "test.bodyless"; }
  FailureOr<ElementBody> buildElementBody(KernelScope &) {
    return ElementBody();
  }
};

/// An op that no kernel can compute.
class SpacelessOp : public PointwiseOp<SpacelessOp> {
public:
  using PointwiseOp::PointwiseOp;
  static StringRef getOperationName() { return "test.spaceless"; }
  std::optional<KernelSpace> getKernelSpace() { return std::nullopt; }
  FailureOr<ElementBody> buildElementBody(KernelScope &) {
    return ElementBody();
  }
};

class TestDialect : public Dialect {
public:
  explicit TestDialect(MLIRContext *context)
      : Dialect(getDialectNamespace(), context, TypeID::get<TestDialect>()) {
    addOperations<SigmoidOp, BodylessOp, SpacelessOp>();
  }
  static StringRef getDialectNamespace() { return "test"; }
};

} // namespace kernel_op_test

namespace {

class KernelOps : public ::testing::Test {
protected:
  KernelOps() {
    DialectRegistry registry;
    registry.insert<kernel_op_test::TestDialect, nn::NNDialect,
                    dist::DistDialect, rt::RTDialect, func::FuncDialect>();
    registerKernelOps(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  LogicalResult formKernels(const std::string &text) {
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    PassManager manager(&context);
    manager.addPass(createFormKernelsPass());
    return manager.run(*module);
  }

  /// Returns the only kernel.
  func::FuncOp kernel() {
    func::FuncOp found;
    for (auto func : module->getOps<func::FuncOp>())
      if (func->hasAttr(rt::RTDialect::kScheduleAttr)) {
        EXPECT_FALSE(found) << "there are several kernels";
        found = func;
      }
    return found;
  }

  void runKernel(std::vector<void *> buffers, std::vector<int64_t> scalars) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    kernel()->print(stream, OpPrintingFlags().useLocalScope());
    LoadedKernels kernels = LoadedKernels::compile(text);
    runIn(kernels[kernel().getName().str().c_str()], buffers, scalars,
          {0, getLaunchShape(kernel())->count});
  }

  /// Returns the error that lowering a program of one op ends with.
  std::string errorOf(const std::string &name) {
    std::string message;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      message += diagnostic.str();
      return success();
    });
    EXPECT_TRUE(failed(formKernels(
        "func.func @step(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {\n"
        "  %y = \"" +
        name +
        "\"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>\n"
        "  return %y : tensor<4x8xf32>\n}\n")));
    return message;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

TEST_F(KernelOps, AreFusedWithOthersAndRun) {
  ASSERT_TRUE(succeeded(formKernels(R"(
    func.func @step(%x: tensor<9x100xf32>, %b: tensor<100xf32>) -> tensor<9x100xf32> {
      %y = nn.add "ab,b->ab" %x, %b : (tensor<9x100xf32>, tensor<100xf32>) -> tensor<9x100xf32>
      %z = "test.sigmoid"(%y) : (tensor<9x100xf32>) -> tensor<9x100xf32>
      return %z : tensor<9x100xf32>
    })")));
  auto x = Array<float>::random(900, 1), b = Array<float>::random(100, 2);
  Array<float> z(900);
  std::vector<double> expected(900);
  for (size_t i = 0; i < z.size(); ++i)
    expected[i] = sigmoid(x[i] + b[i % 100]);
  runKernel({x.data(), b.data(), z.data()}, {});
  EXPECT_TRUE(near(z, expected, 2e-6));
}

/// The second of two ranks has 4 of 9 columns, and one of padding.
TEST_F(KernelOps, AreMaskedInTheSameKernel) {
  ASSERT_TRUE(succeeded(formKernels(R"(
    module attributes {dist.mesh = #dist.mesh<tp = 2>} {
      func.func @step(%x: tensor<2x5xf32>) -> tensor<2x5xf32> {
        %y = "test.sigmoid"(%x) : (tensor<2x5xf32>) -> tensor<2x5xf32>
        %z = dist.mask %y dim 1 fill Z {rt.factors = {b = {axes = ["tp"], chunks = array<i64: 5>, total = 9 : i64}}}
          : tensor<2x5xf32> -> tensor<2x5xf32>
        return %z : tensor<2x5xf32>
      }
    })")));
  Array<float> x(10), z(10);
  std::vector<double> expected(10);
  for (size_t i = 0; i < z.size(); ++i) {
    x[i] = 0;
    expected[i] = i % 5 < 4 ? 0.5 : 0;
  }
  runKernel({x.data(), z.data()}, {4});
  EXPECT_TRUE(near(z, expected, 1e-7));
}

/// A mask of each dimension of [2, 3, 5], and of what is left of a row.
TEST_F(KernelOps, AreMaskedAlongEveryDimension) {
  for (int64_t dim = 0; dim < 3; ++dim) {
    ASSERT_TRUE(succeeded(formKernels(
        "module attributes {dist.mesh = #dist.mesh<tp = 2>} {\n"
        "  func.func @step(%x: tensor<2x3x5xf32>) -> tensor<2x3x5xf32> {\n"
        "    %z = dist.mask %x dim " +
        std::to_string(dim) + " fill N {rt.factors = {" +
        std::string(1, static_cast<char>('a' + dim)) +
        " = {axes = [\"tp\"], chunks = array<i64: 9>, total = 17 : i64}}}\n"
        "      : tensor<2x3x5xf32> -> tensor<2x3x5xf32>\n"
        "    return %z : tensor<2x3x5xf32>\n  }\n}\n")));
    auto x = Array<float>::random(30, 1);
    for (int64_t valid = 0; valid < 3; ++valid) {
      Array<float> z(30);
      runKernel({x.data(), z.data()}, {valid});
      for (int64_t i = 0; i < 30; ++i) {
        const int64_t index[] = {i / 15, i / 5 % 3, i % 5};
        EXPECT_EQ(z[i], index[dim] < valid ? x[i] : -INFINITY)
            << "dimension " << dim << ", element " << i;
      }
    }
  }
}

TEST_F(KernelOps, WithoutABodyAreRefused) {
  EXPECT_EQ(errorOf("test.bodyless"),
            "'test.bodyless' op has no lowering to the runtime: it has no "
            "body for kernels");
}

TEST_F(KernelOps, WithoutASpaceAreRefused) {
  EXPECT_EQ(errorOf("test.spaceless"),
            "'test.spaceless' op has no lowering to the runtime");
}

} // namespace
