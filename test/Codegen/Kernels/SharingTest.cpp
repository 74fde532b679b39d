//===- SharingTest.cpp - in-place results and launch shapes ---------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "tessera/Lower/Kernels/BufferSharing.h"
#include "test/Codegen/Kernels/KernelHarness.h"

class Sharing : public ::testing::Test {
protected:
  Sharing() {
    context.loadDialect<mlir::arith::ArithDialect, mlir::func::FuncDialect,
                        mlir::linalg::LinalgDialect, mlir::math::MathDialect,
                        mlir::tensor::TensorDialect>();
  }
  mlir::func::FuncOp parse(const char *file, const char *name) {
    std::string text = instantiate(file, {{"R", "48"},
                                          {"C", "48"},
                                          {"T", "f32"},
                                          {"V", "48"},
                                          {"S", "48"},
                                          {"LEAST", "0xFF800000"}});
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    return module->lookupSymbol<mlir::func::FuncOp>(name);
  }
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

bool mayShare(mlir::func::FuncOp kernel, unsigned argument, unsigned result) {
  return llvm::is_contained(tessera::findSharedBuffers(kernel),
                            std::pair(argument, result));
}

TEST_F(Sharing, ElementwiseMaySharePlanes) {
  auto adamw = parse("optimizer.mlir.in", "adamw");
  for (unsigned i = 0; i < 3; ++i)
    EXPECT_TRUE(mayShare(adamw, i, i));
  EXPECT_FALSE(mayShare(adamw, 4, 0)) << "a scalar";
}

TEST_F(Sharing, LastPhaseReadsMayBeOverwritten) {
  auto forward = parse("layer-norm.mlir.in", "forward");
  EXPECT_TRUE(mayShare(forward, 0, 0));
  EXPECT_FALSE(mayShare(forward, 1, 1))
      << "weights lie along columns, means along rows, of the same size";
}

TEST_F(Sharing, LaterReadsForbidSharing) {
  auto softmax = parse("cross-entropy.mlir.in", "softmax");
  EXPECT_TRUE(mayShare(softmax, 0, 0)) << "stored in the last phase";
  auto early = parse("sharing.mlir.in", "early_store");
  EXPECT_FALSE(mayShare(early, 0, 0));
  EXPECT_TRUE(mayShare(early, 0, 1));
}

TEST_F(Sharing, TablesAreNeverShared) {
  auto lookup = parse("embedding.mlir.in", "lookup");
  EXPECT_FALSE(mayShare(lookup, 1, 0));
}

TEST_F(Sharing, ColumnAccumulatorsMayBeInPlace) {
  auto bias = parse("layer-norm.mlir.in", "bias_gradient");
  EXPECT_TRUE(mayShare(bias, 1, 0));
  // ColumnSlicesTest runs this one so, in one kernel and in two.
  auto scaled = parse("column-slices.mlir.in", "scaled");
  EXPECT_TRUE(mayShare(scaled, 0, 0)) << "a plane";
  EXPECT_TRUE(mayShare(scaled, 2, 1)) << "an accumulator";
}

TEST_F(Sharing, LaunchShapes) {
  auto rows = tessera::getLaunchShape(parse("layer-norm.mlir.in", "forward"));
  EXPECT_EQ(rows->count, 48);
  EXPECT_EQ(rows->grain, 86);
  auto columns =
      tessera::getLaunchShape(parse("layer-norm.mlir.in", "weight_gradient"));
  EXPECT_EQ(columns->count, 48);
  EXPECT_EQ(columns->grain, 64);
}
