//===- OpOrderTest.cpp - the order of ops while they move -----------------===//

#include "tessera/Dialect/RT/OpOrder.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include <gtest/gtest.h>
#include <random>

using namespace mlir;
using tessera::rt::OpOrder;

namespace {

/// A block of ops that mean nothing, and the order of it.
class OpOrderTest : public testing::Test {
protected:
  OpOrderTest() : module(ModuleOp::create(UnknownLoc::get(&context))) {
    context.allowUnregisteredDialects();
  }

  Operation *create(Operation *before = nullptr) {
    OpBuilder builder(&context);
    if (before)
      builder.setInsertionPoint(before);
    else
      builder.setInsertionPointToEnd(module->getBody());
    return builder.create(
        OperationState(builder.getUnknownLoc(), "test.nothing"));
  }
  void fill(size_t count) {
    for (size_t i = 0; i < count; ++i)
      ops.push_back(create());
  }
  Operation *any() { return ops[random() % ops.size()]; }
  /// Compares the order with the block.
  void expectRight() {
    DenseMap<Operation *, size_t> places;
    for (Operation &op : *module->getBody())
      places.try_emplace(&op, places.size());
    for (int i = 0; i < 50; ++i) {
      Operation *a = any(), *b = any();
      ASSERT_EQ(order.isBefore(a, b), places[a] < places[b]);
    }
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::vector<Operation *> ops;
  OpOrder order;
  std::mt19937 random{7};
};

TEST_F(OpOrderTest, FollowsMovesNewOpsAndErasedOps) {
  fill(40);
  for (int i = 0; i < 3000; ++i) {
    Operation *op = any(), *place = any();
    if (i % 4 == 0) {
      ops.push_back(create(place));
    } else if (i % 4 == 1) {
      order.erase(op);
      llvm::erase(ops, op);
    } else if (op != place) {
      i % 4 == 2 ? order.moveBefore(op, place) : order.moveAfter(op, place);
    }
    expectRight();
  }
}

TEST_F(OpOrderTest, NewNeighboursGetNumbersTogether) {
  fill(3);
  EXPECT_TRUE(order.isBefore(ops[0], ops[2]));
  for (int i = 0; i < 500; ++i)
    ops.push_back(create(ops[1]));
  expectRight();
  EXPECT_LT(order.getWork(), 2000);
}

/// Every move to one place halves the room that is left there.
TEST_F(OpOrderTest, MovesToOnePlaceNumberFewOps) {
  constexpr size_t count = 20000;
  fill(count);
  for (size_t i = count - 1; i > 1; --i) {
    order.moveAfter(ops[i], ops[0]);
    ASSERT_TRUE(order.isBefore(ops[0], ops[i]));
    ASSERT_TRUE(order.isBefore(ops[i], ops[1]));
  }
  expectRight();
  // MLIR would number each op after each move, 4e8 in all.
  EXPECT_LT(order.getWork(), int64_t(20 * count));
}

} // namespace
