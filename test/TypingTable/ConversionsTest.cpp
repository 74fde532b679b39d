//===- ConversionsTest.cpp - conversions are the specification's ----------===//
// Checks which states convert to which, by which collective, what it sends, and
// that `dist.convert` verifies these and no others.
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "tessera/Dialect/NN/NN.h"
#include "test/TypingTable/Rows.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace tessera;
using dist::Collective;
using dist::State;

namespace {

/// The specification's names, as in rows.txt. It does not name kinds of
/// conversions.
const std::pair<const char *, Collective> kCollectives[] = {
    {"none", Collective::None},
    {"all_reduce", Collective::AllReduce},
    {"all_gather", Collective::AllGather},
    {"reduce_scatter", Collective::ReduceScatter},
    {"all_to_all", Collective::AllToAll},
    {"send", Collective::Send},
    {"broadcast", Collective::Broadcast}};

/// One of each kind, and a second dimension and stage.
const State kStates[] = {{State::I},       {State::R},        {State::P},
                         {State::M},       State::sharded(0), State::sharded(1),
                         {State::A, 0, 0}, {State::A, 1, 0},  {State::L},
                         {State::C}};

std::string kindOf(State state) { return state.str().substr(0, 1); }

class ConversionsTest : public ::testing::Test {
protected:
  void SetUp() override {
    table = test::readTypingTable(TYPING_TABLE);
    ASSERT_FALSE(table.conversions.empty());
  }

  std::string expected(State from, State to) {
    auto row = table.conversions.find({kindOf(from), kindOf(to)});
    bool there = row != table.conversions.end() && from != to;
    return there ? row->second : "";
  }

  test::TypingTable table;
};

TEST_F(ConversionsTest, FindConversionKnowsExactlyTheTable) {
  for (State from : kStates)
    for (State to : kStates) {
      SCOPED_TRACE(from.str() + " -> " + to.str());
      const dist::ConversionRow *row = dist::findConversion(from, to);
      std::string name;
      for (auto [text, collective] : kCollectives)
        if (row && row->collective == collective)
          name = text;
      EXPECT_EQ(name, expected(from, to));
    }
}

TEST_F(ConversionsTest, RoutesAreTheTables) {
  for (State from : kStates)
    for (State to : kStates) {
      SCOPED_TRACE(from.str() + " -> " + to.str());
      auto path = dist::route(from, to);
      auto row = table.routes.find({from.str(), to.str()});
      ASSERT_EQ(path.has_value(), row != table.routes.end());
      if (!path)
        continue;
      test::States found;
      for (State state : *path)
        found.push_back(state.str());
      EXPECT_EQ(found, row->second);
    }
}

TEST_F(ConversionsTest, DualsAndSharesAreTheTables) {
  for (State state : kStates) {
    auto row = table.duals.find(state.str());
    if (row != table.duals.end()) {
      EXPECT_EQ(dist::dual(state).str(), row->second) << state.str();
    }
  }
  EXPECT_EQ(table.duals.size(), 7u);
  for (const auto &[key, share] : table.shares)
    for (auto [text, collective] : kCollectives)
      if (key.first == text) {
        EXPECT_DOUBLE_EQ(program::ringShare(collective, key.second), share)
            << text << " over " << key.second;
      }
  EXPECT_EQ(table.shares.size(), 3 * std::size(kCollectives));
}

/// Every pair of states under every kind: one kind per row verifies.
TEST_F(ConversionsTest, VerifierAcceptsExactlyTheTable) {
  MLIRContext context;
  context.loadDialect<nn::NNDialect, dist::DistDialect>();
  context.getDiagEngine().registerHandler(
      [](Diagnostic &) { return success(); });
  OpBuilder b(&context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(b.getUnknownLoc());
  (*module)->setAttr(
      dist::DistDialect::kMeshAttr,
      dist::MeshAttr::get(&context, {b.getStringAttr("x")}, {2}));
  b.setInsertionPointToEnd(module->getBody());
  auto plain = RankedTensorType::get({4, 6}, b.getF32Type());
  Block source;
  for (State from : kStates)
    for (State to : kStates) {
      Value input = source.addArgument(dist::withState(plain, "x", from),
                                       b.getUnknownLoc());
      int verified = 0;
      for (unsigned k = 0; k <= dist::getMaxEnumValForConversionKind(); ++k) {
        auto op = dist::ConvertOp::create(b, b.getUnknownLoc(),
                                          dist::withState(plain, "x", to),
                                          input, dist::ConversionKind(k), "x");
        verified += succeeded(op.verify());
        op.erase();
      }
      EXPECT_EQ(verified, expected(from, to).empty() ? 0 : 1)
          << from.str() << " -> " << to.str();
    }
}

} // namespace
