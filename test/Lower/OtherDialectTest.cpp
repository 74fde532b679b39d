//===- OtherDialectTest.cpp - ops of another dialect, lowered -------------===//
// The passes ask dialects for their patterns, and code generation asks an op
// for its call: ops of a dialect that the compiler has never heard of become
// kernels, calls of entries, and host code.
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "tessera/Codegen/Calls/Passes.h"
#include "tessera/Codegen/Calls/RuntimeCall.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/RT/RowLayout.h"
#include "tessera/Lower/Kernels/KernelOpInterface.h"
#include "tessera/Lower/Passes.h"
#include "tessera/Lower/Patterns.h"
#include "tessera/Memory/Passes.h"
#include "tessera/abi.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace tessera;

namespace other_dialect_test {

template <typename ConcreteOp, template <typename> class... Traits>
class UnaryOp
    : public Op<ConcreteOp, OpTrait::ZeroRegions, OpTrait::OneResult,
                OpTrait::ZeroSuccessors, OpTrait::OneOperand, Traits...> {
public:
  using Op<ConcreteOp, OpTrait::ZeroRegions, OpTrait::OneResult,
           OpTrait::ZeroSuccessors, OpTrait::OneOperand, Traits...>::Op;
  static ArrayRef<StringRef> getAttributeNames() { return {}; }
  static ConcreteOp create(OpBuilder &b, Location loc, Value input) {
    OperationState state(loc, ConcreteOp::getOperationName(), input,
                         input.getType(), {});
    return cast<ConcreteOp>(b.create(state));
  }
};

/// x * x, which is decomposed.
class SquareOp : public UnaryOp<SquareOp> {
public:
  using UnaryOp::UnaryOp;
  static StringRef getOperationName() { return "other.square"; }
};

/// A second x, which the runtime copies.
class TwinOp : public UnaryOp<TwinOp> {
public:
  using UnaryOp::UnaryOp;
  static StringRef getOperationName() { return "other.twin"; }
};

/// The call that a twin becomes, of the entry that copies.
class TwinCallOp : public UnaryOp<TwinCallOp, rt::RuntimeCallOpInterface::Trait,
                                  EntryCallOpInterface::Trait> {
public:
  using UnaryOp::UnaryOp;
  static StringRef getOperationName() { return "other.twin_call"; }

  FailureOr<RuntimeCall> describeCall(dist::MeshAttr) {
    int64_t bytes = rt::bytesOf((*this)->getResult(0));
    RuntimeCall call(TSR_ENTRY_COPY);
    call.buffers = {(*this)->getOperand(0), (*this)->getResult(0)};
    call.arguments = {1, bytes, bytes, bytes};
    return call;
  }
};

struct DecomposeSquare : OpRewritePattern<SquareOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SquareOp op,
                                PatternRewriter &rewriter) const override {
    Value x = op->getOperand(0);
    std::string all = nn::lettersOf(x);
    rewriter.replaceOp(
        op, nn::create<nn::EinsumOp>(
                rewriter, op.getLoc(),
                rewriter.getStringAttr(all + "," + all + "->" + all),
                ValueRange{x, x}, rewriter.getF64FloatAttr(1.0), TypeAttr()));
    return success();
  }
};

struct LowerTwin : OpRewritePattern<TwinOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TwinOp op,
                                PatternRewriter &rewriter) const override {
    Type type = op->getResult(0).getType();
    if (getElementTypeOrSelf(type).isF64())
      return rewriter.notifyMatchFailure(op, [&](Diagnostic &why) {
        why << "copies " << type << "; use f32";
      });
    rewriter.replaceOpWithNewOp<TwinCallOp>(op, op->getOperand(0));
    return success();
  }
};

/// Two calls for each, which would have no end if ops that patterns create were
/// visited.
struct RepeatTwinCall : OpRewritePattern<TwinCallOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TwinCallOp op,
                                PatternRewriter &rewriter) const override {
    auto once = TwinCallOp::create(rewriter, op.getLoc(), op->getOperand(0));
    rewriter.replaceOpWithNewOp<TwinCallOp>(op, once->getResult(0));
    return success();
  }
};

struct OtherLowering : LoweringDialectInterface {
  using LoweringDialectInterface::LoweringDialectInterface;
  void populateDecomposePatterns(RewritePatternSet &patterns) const override {
    patterns.add<DecomposeSquare, RepeatTwinCall>(patterns.getContext());
  }
  void populateLibraryPatterns(RewritePatternSet &patterns) const override {
    patterns.add<LowerTwin>(patterns.getContext());
  }
};

class OtherDialect : public Dialect {
public:
  explicit OtherDialect(MLIRContext *context)
      : Dialect(getDialectNamespace(), context, TypeID::get<OtherDialect>()) {
    addOperations<SquareOp, TwinOp, TwinCallOp>();
    addInterfaces<OtherLowering>();
  }
  static StringRef getDialectNamespace() { return "other"; }
};

} // namespace other_dialect_test

namespace {

using other_dialect_test::TwinCallOp;

class OtherDialects : public ::testing::Test {
protected:
  OtherDialects() {
    DialectRegistry registry;
    registry.insert<other_dialect_test::OtherDialect, nn::NNDialect,
                    dist::DistDialect, rt::RTDialect, func::FuncDialect>();
    registerKernelOps(registry);
    registerEntryCalls(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  /// Parses a program of one op on a matrix.
  void parse(const std::string &op, const std::string &element = "f32") {
    std::string type = "tensor<4x8x" + element + ">";
    module = parseSourceString<ModuleOp>(
        "func.func @step(%x: " + type + ") -> " + type + " {\n  %y = \"" + op +
            "\"(%x) : (" + type + ") -> " + type + "\n  return %y : " + type +
            "\n}\n",
        &context);
    ASSERT_TRUE(module);
  }

  LogicalResult run(std::vector<std::unique_ptr<Pass>> passes) {
    PassManager manager(&context);
    for (std::unique_ptr<Pass> &pass : passes)
      manager.addPass(std::move(pass));
    return manager.run(*module);
  }
  template <typename... Passes> LogicalResult run(Passes... passes) {
    std::vector<std::unique_ptr<Pass>> list;
    (list.push_back(std::move(passes)), ...);
    return run(std::move(list));
  }

  template <typename OpTy> std::vector<OpTy> all() {
    std::vector<OpTy> ops;
    module->walk([&](OpTy op) { ops.push_back(op); });
    return ops;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

TEST_F(OtherDialects, AreDecomposedForKernels) {
  parse("other.square");
  ASSERT_TRUE(succeeded(run(createDecomposePass())));
  ASSERT_EQ(all<nn::EinsumOp>().size(), 1u);
  EXPECT_EQ(all<nn::EinsumOp>()[0].getSpec(), "ab,ab->ab");
  ASSERT_TRUE(
      succeeded(run(createLowerLibraryPass(), createFormKernelsPass())));
  EXPECT_EQ(all<rt::LaunchOp>().size(), 1u);
  EXPECT_TRUE(all<other_dialect_test::SquareOp>().empty());
}

TEST_F(OtherDialects, BecomeCallsOfEntries) {
  parse("other.twin");
  ASSERT_TRUE(succeeded(run(createDecomposePass(), createLowerLibraryPass(),
                            createFormKernelsPass())));
  ASSERT_EQ(all<TwinCallOp>().size(), 1u);
  TwinCallOp twin = all<TwinCallOp>()[0];
  FailureOr<RuntimeCall> call = describeCall(twin, {});
  ASSERT_TRUE(succeeded(call));
  EXPECT_EQ(call->entry, TSR_ENTRY_COPY);
  EXPECT_EQ(call->arguments[1].constant, 4 * 8 * 4);
  // The result of a program may not be its argument, and is not.
  ASSERT_TRUE(
      succeeded(run(createAnnotateSharingPass(), createInsertCopiesPass(),
                    createPlanMemoryPass(), createCheckMemoryPass())));
  ASSERT_TRUE(succeeded(run(createConvertRTToLLVMPass())));
  EXPECT_TRUE(all<TwinCallOp>().empty());
  auto lists = llvm::count_if(all<LLVM::GlobalOp>(), [](LLVM::GlobalOp list) {
    return list.getSymName().starts_with("tsr_calls");
  });
  EXPECT_GE(lists, 1);
}

TEST_F(OtherDialects, AreRefusedWithTheReasonOfTheirPattern) {
  parse("other.twin", "f64");
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    message += diagnostic.str();
    return success();
  });
  EXPECT_TRUE(failed(run(createLowerLibraryPass())));
  EXPECT_EQ(message, "'other.twin' op copies 'tensor<4x8xf64>'; use f32");
}

TEST_F(OtherDialects, AreVisitedOnce) {
  parse("other.twin_call");
  ASSERT_TRUE(succeeded(run(createDecomposePass())));
  EXPECT_EQ(all<TwinCallOp>().size(), 2u);
}

} // namespace
