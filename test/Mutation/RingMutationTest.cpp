//===- RingMutationTest.cpp - a wrong ring does not verify ----------------===//
// The training step of a two-layer GPT-2 with dropout, its attention a ring of
// two ranks, of the same with documents, and of a Mistral whose window reaches
// one of three other slices.
// Marks are taken away or moved, shifts left out, chunks and slices mistaken
// for others, sums begun anew. No such program may pass for the serial one.
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/RT/RT.h"
#include "test/Dialect/NN/OtherAttention.h"
#include "test/Mutation/Judge.h"
#include "llvm/Support/FileSystem.h"
#include <gtest/gtest.h>
#include <memory>

using namespace mlir;
using namespace tessera;
using namespace tessera::test;

namespace {

/// The programs of a strategy, for all tests of a suite.
class Bench {
public:
  explicit Bench(const Strategy &chosen) : strategy(chosen) {
    EXPECT_FALSE(llvm::sys::fs::createUniqueDirectory("ring", directory));
    judge = std::make_unique<Judge>(strategy, kernels, (directory + "/").str());
    isGood = judge->start() && judge->prepare();
  }
  ~Bench() { llvm::sys::fs::remove_directories(directory); }

  llvm::SmallString<128> directory;
  KernelObjects kernels;
  const Strategy strategy;
  std::unique_ptr<Judge> judge;
  bool isGood;
};

class RingMutationTest : public ::testing::Test {
protected:
  explicit RingMutationTest(
      const Strategy &strategy = {"gpt2", "cp=2", "--context-parallel ring"})
      : judge(*benchOf(strategy).judge) {}
  static void TearDownTestSuite() { bench.reset(); }
  void SetUp() override { ASSERT_TRUE(bench->isGood); }

  void expectCaught(Stage stage, std::vector<Fate> by, unsigned number,
                    const char *kind, std::function<void(Operation *)> change) {
    Mutant mutant;
    mutant.stage = stage;
    mutant.apply = [=](ModuleOp module) { change(opsOf(module)[number]); };
    Verdict verdict = judge.judge(mutant);
    EXPECT_TRUE(llvm::is_contained(by, verdict.fate))
        << kind << ": " << describe(opsOf(judge.programs.at(stage))[number])
        << ", fate " << static_cast<int>(verdict.fate) << ", difference "
        << verdict.difference;
    ++mutants;
  }
  void lowered(unsigned number, const char *kind,
               std::function<void(Operation *)> change) {
    expectCaught(Stage::Lowered, {Fate::Types, Fate::Passes, Fate::Numerics},
                 number, kind, std::move(change));
  }
  /// Calls of the last micro-batch by number: the loop before it has the same.
  std::vector<std::pair<unsigned, Operation *>> loweredCalls() {
    std::vector<std::pair<unsigned, Operation *>> calls;
    for (auto [number, op] :
         llvm::enumerate(opsOf(judge.programs.at(Stage::Lowered))))
      if (!op->getParentOfType<rt::LoopOp>())
        calls.push_back({number, op});
    return calls;
  }
  template <typename OpTy> void mutateStep(OpTy op, unsigned number);

  Judge &judge;
  int mutants = 0;

private:
  static Bench &benchOf(const Strategy &strategy) {
    if (!bench)
      bench = std::make_unique<Bench>(strategy);
    return *bench;
  }
  static std::unique_ptr<Bench> bench; ///< the running suite's
};

std::unique_ptr<Bench> RingMutationTest::bench;

TEST_F(RingMutationTest, TheProgramItselfTrainsAsTheSerialOne) {
  Verdict verdict = judge.judgeOriginal();
  EXPECT_EQ(verdict.fate, Fate::Equal) << verdict.difference;
}

TEST_F(RingMutationTest, MarksAreNeeded) {
  for (auto [number, op] :
       llvm::enumerate(opsOf(judge.programs.at(Stage::Typed)))) {
    if (!op->hasAttr(dist::DistDialect::kRingAttr))
      continue;
    expectCaught(
        Stage::Typed, {Fate::Types}, number, "mark removed",
        [](Operation *op) { op->removeAttr(dist::DistDialect::kRingAttr); });
    expectCaught(Stage::Typed, {Fate::Types}, number, "mark of another axis",
                 [](Operation *op) {
                   op->setAttr(dist::DistDialect::kRingAttr,
                               StringAttr::get(op->getContext(), "tp"));
                 });
  }
  EXPECT_EQ(mutants, 12)
      << "forward and backward of two layers, and the evaluation";
}

TEST_F(RingMutationTest, EveryShiftIsNeeded) {
  for (auto [number, op] : loweredCalls())
    if (isa<rt::ShiftOp>(op))
      lowered(number, "left out", [](Operation *op) {
        op->getResult(0).replaceAllUsesWith(op->getOperand(0));
        op->erase();
      });
  EXPECT_EQ(mutants, 2 * 2 * (2 + 4))
      << "two chunks of keys and values; also of their gradients";
}

TEST_F(RingMutationTest, EveryZigzagHasItsChunks) {
  for (auto [number, op] : loweredCalls())
    if (isa<rt::ZigzagOp>(op))
      lowered(number, "early and late exchanged", [](Operation *op) {
        auto zigzag = cast<rt::ZigzagOp>(op);
        Value early = zigzag.getEarly(), late = zigzag.getLate();
        if (zigzag.makesWhole()) {
          op->setOperands({late, early});
          return;
        }
        SmallVector<OpOperand *> uses;
        for (OpOperand &use : early.getUses())
          uses.push_back(&use);
        late.replaceAllUsesWith(early);
        for (OpOperand *use : uses)
          use->set(late);
      });
  EXPECT_EQ(mutants, 2 * (1 + 2 + 4 + 3))
      << "fused q, k, v; output, lse; all of them and a gradient; d_q, d_k, "
         "d_v";
}

template <typename OpTy>
void RingMutationTest::mutateStep(OpTy op, unsigned number) {
  lowered(number, "other keys", [](Operation *op) {
    auto step = cast<OpTy>(op);
    OpBuilder b(op);
    Value one = arith::ConstantIntOp::create(b, op->getLoc(), 1, 64);
    Value moved =
        arith::AddIOp::create(b, op->getLoc(), step.getKeyStart(), one);
    step.getKeyStartMutable().assign(moved);
  });
  lowered(number, "other number of keys", [](Operation *op) {
    cast<OpTy>(op).setKeysTotal(cast<OpTy>(op).getKeysTotal() * 2);
  });
  lowered(number, "keys and values exchanged", [](Operation *op) {
    auto step = cast<OpTy>(op);
    Value key = step.getKey();
    uint64_t row = step.getRowK();
    step.getKeyMutable().assign(step.getValue());
    step.getValueMutable().assign(key);
    step.setRowK(step.getRowV());
    step.setRowV(row);
  });
  if (!op.getEarlier().empty())
    lowered(number, "begun anew",
            [](Operation *op) { cast<OpTy>(op).getEarlierMutable().clear(); });
}

/// Only the first layer is changed: the others have the same steps.
TEST_F(RingMutationTest, EveryStepIsTheRightOne) {
  for (auto [number, op] : loweredCalls()) {
    if (!StringRef(nn::partOf(op->getLoc())).starts_with("h.0."))
      continue;
    if (auto step = dyn_cast<rt::RingAttentionOp>(op))
      mutateStep(step, number);
    if (auto step = dyn_cast<rt::RingAttentionGradOp>(op))
      mutateStep(step, number);
  }
  EXPECT_EQ(mutants, 2 * 6 * 3 + 4 + 5)
      << "two steps of three pairs, forward and backward; all but the first of "
         "some queries, in backward also of some keys, add to earlier ones";
}

class WindowMutationTest : public RingMutationTest {
protected:
  WindowMutationTest()
      : RingMutationTest(
            {"mistral-window", "cp=4", "--context-parallel ring"}) {}
};

TEST_F(WindowMutationTest, TheProgramItselfTrainsAsTheSerialOne) {
  Verdict verdict = judge.judgeOriginal();
  EXPECT_EQ(verdict.fate, Fate::Equal) << verdict.difference;
}

static void setWindow(Operation *op, int64_t window) {
  test::setAttention(op, test::withWindow(test::attentionOf(op), window));
}

TEST_F(WindowMutationTest, TypedWindowsAreTheSerialOnes) {
  for (auto [number, op] :
       llvm::enumerate(opsOf(judge.programs.at(Stage::Typed))))
    if (isa<nn::AttentionOp, nn::AttentionGradOp>(op))
      expectCaught(Stage::Typed, {Fate::Types, Fate::Erasure}, number,
                   "no window", [](Operation *op) { setWindow(op, 0); });
  EXPECT_EQ(mutants, 6)
      << "forward and backward of two layers, and the evaluation";
}

/// A longer window would hide as much of the own slice: nothing.
static void shortenWindow(Operation *op) {
  setWindow(op, test::attentionOf(op).getWindow() - 2);
}

TEST_F(WindowMutationTest, EveryStepHasItsWindow) {
  for (auto [number, op] : loweredCalls()) {
    if (isa<rt::RingAttentionOp, rt::RingAttentionGradOp>(op))
      lowered(number, "shorter window", shortenWindow);
  }
  EXPECT_EQ(mutants, 2 * 2 * 2) << "two steps, forward and backward";
}

TEST_F(WindowMutationTest, EveryShiftGoesAsFar) {
  for (auto [number, op] : loweredCalls())
    if (isa<rt::ShiftOp>(op))
      lowered(number, "to another rank", [](Operation *op) {
        auto shift = cast<rt::ShiftOp>(op);
        shift.setDistance(shift.getDistance() == 1 ? 2 : 1);
      });
  EXPECT_EQ(mutants, 2 * (2 + 2 + 2))
      << "keys and values, in backward also their gradients";
}

/// Documents end at every fourth token, and somewhere else.
class SegmentMutationTest : public RingMutationTest {
protected:
  SegmentMutationTest()
      : RingMutationTest(
            {"gpt2-documents", "cp=2", "--context-parallel ring"}) {}
};

TEST_F(SegmentMutationTest, TheProgramItselfTrainsAsTheSerialOne) {
  Verdict verdict = judge.judgeOriginal();
  EXPECT_EQ(verdict.fate, Fate::Equal) << verdict.difference;
}

template <typename OpTy> static void clearSegments(Operation *op) {
  cast<OpTy>(op).getQuerySegmentsMutable().clear();
  cast<OpTy>(op).getKeySegmentsMutable().clear();
}

TEST_F(SegmentMutationTest, TypedSegmentsAreTheSerialOnes) {
  for (auto [number, op] :
       llvm::enumerate(opsOf(judge.programs.at(Stage::Typed)))) {
    if (isa<nn::AttentionOp>(op))
      expectCaught(Stage::Typed, {Fate::Types, Fate::Erasure}, number,
                   "no segments", clearSegments<nn::AttentionOp>);
    if (isa<nn::AttentionGradOp>(op))
      expectCaught(Stage::Typed, {Fate::Types, Fate::Erasure}, number,
                   "no segments", clearSegments<nn::AttentionGradOp>);
  }
  EXPECT_EQ(mutants, 6)
      << "forward and backward of two layers, and the evaluation";
}

/// Only the first layer is changed: the others have the same steps.
TEST_F(SegmentMutationTest, EveryStepHasItsSegments) {
  for (auto [number, op] : loweredCalls()) {
    if (!StringRef(nn::partOf(op->getLoc())).starts_with("h.0."))
      continue;
    if (isa<rt::RingAttentionOp>(op))
      lowered(number, "no segments", clearSegments<rt::RingAttentionOp>);
    if (isa<rt::RingAttentionGradOp>(op))
      lowered(number, "no segments", clearSegments<rt::RingAttentionGradOp>);
  }
  EXPECT_EQ(mutants, 2 * 2 * 3) << "two steps of three pairs";
}

} // namespace
