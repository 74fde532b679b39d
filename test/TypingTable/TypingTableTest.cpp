//===- TypingTableTest.cpp - the compiler's rule is the specification's ---===//
// For every op that both have, over every combination of operand states on one
// mesh axis: the compiler accepts exactly the rows of rows.txt, with the same
// result, in `dist::infer`, in type inference and in the op verifier. The
// gradients of each row have the dual states.
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "tessera/Dialect/NN/Functions.h"
#include "test/TypingTable/Rows.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>
#include <gtest/gtest.h>

using namespace mlir;
using namespace tessera;
using test::SharedOp;
using test::States;

namespace {

constexpr const char *kAxis = "x";

dist::State parseState(const std::string &text) {
  static const std::string kinds = "IRSPMAL";
  dist::State state = {dist::State::Kind(kinds.find(text[0]))};
  if (text.size() > 3)
    state.where = text[2] - '0';
  if (text.size() > 5)
    state.level = text[4] - '0';
  return state;
}

SmallVector<dist::State> parseStates(const States &texts) {
  return llvm::map_to_vector(texts, parseState);
}

/// Returns `I R P`, `S(dim)` for every dimension, and what `more` says.
States alphabet(size_t dims, const States &more) {
  States states = {"I", "R", "P"};
  states.insert(states.end(), more.begin(), more.end());
  for (size_t dim = 0; dim < dims; ++dim)
    states.push_back("S(" + std::to_string(dim) + ")");
  return states;
}

/// Returns states with the second axis of a dimension, pipeline stages, partial
/// maxima and means.
States wideAlphabet(size_t dims) {
  States states = alphabet(dims, {"M", "L", "A(0)", "A(1)"});
  for (size_t dim = 0; dim < dims; ++dim)
    states.push_back("S(" + std::to_string(dim) + ":1)");
  return states;
}

/// Calls `visit` with every choice of one state per operand.
template <typename Visit>
void forEachChoice(const std::vector<States> &options, Visit visit) {
  std::vector<size_t> at(options.size(), 0);
  States chosen;
  while (true) {
    chosen.clear();
    for (size_t k = 0; k < at.size(); ++k)
      chosen.push_back(options[k][at[k]]);
    visit(chosen);
    size_t k = 0;
    while (k < at.size() && ++at[k] == options[k].size())
      at[k++] = 0;
    if (k == at.size())
      return;
  }
}

std::string join(const States &states) { return llvm::join(states, ", "); }

class TypingTableTest : public ::testing::Test {
protected:
  TypingTableTest() : builder(&context), loc(builder.getUnknownLoc()) {}

  void SetUp() override {
    context.loadDialect<nn::NNDialect, dist::DistDialect, func::FuncDialect>();
    context.getDiagEngine().registerHandler(
        [](Diagnostic &) { return success(); });
    table = test::readTypingTable(TYPING_TABLE);
    ASSERT_FALSE(table.ops.empty());
  }

  /// An empty function on a mesh of one axis; ops are built at its end.
  Block &newFunction() {
    module = ModuleOp::create(loc);
    (*module)->setAttr(
        dist::DistDialect::kMeshAttr,
        dist::MeshAttr::get(&context, {builder.getStringAttr(kAxis)}, {2}));
    builder.setInsertionPointToEnd(module->getBody());
    auto func = func::FuncOp::create(builder, loc, "f",
                                     builder.getFunctionType({}, {}));
    Block &block = *func.addEntryBlock();
    builder.setInsertionPointToEnd(&block);
    return block;
  }

  /// Returns a type in which every letter has a size of its own, so that no
  /// dimensions are confused; but e has that of d, for values are as long as
  /// keys, and q 3, the numbers of a draw.
  RankedTensorType typeOf(StringRef letters, bool index) {
    SmallVector<int64_t> shape;
    for (char f : letters)
      shape.push_back(f == 'q' ? 3 : 2 * ((f == 'e' ? 'd' : f) - 'a' + 1));
    Type element = index ? Type(builder.getI32Type()) : builder.getF32Type();
    return RankedTensorType::get(shape, element);
  }

  static bool isIndex(const SharedOp &op, unsigned operand) {
    return (op.kind == "embedding" && operand == 0) ||
           (op.kind == "pick" && operand == 1) ||
           (op.kind == "append" && operand >= 2) ||
           (op.kind == "attend" && operand >= 3) ||
           (op.kind == "top" && operand == 2);
  }

  std::vector<Operation *> build(const SharedOp &op);
  Operation *buildOne(const SharedOp &op, ValueRange in);
  void setStates(Operation *op, const States &states);
  void expectVerdicts(Operation *op, const SharedOp &shared,
                      const States &states);
  void expectDualGradients(Operation *op, const States &states);

  static std::vector<States> options(const SharedOp &op, bool wide) {
    std::vector<States> found;
    for (const std::string &letters : dist::Signature::parse(op.spec).ins)
      found.push_back(wide ? wideAlphabet(letters.size())
                           : alphabet(letters.size(), {}));
    return found;
  }

  MLIRContext context;
  OpBuilder builder;
  Location loc;
  OwningOpRef<ModuleOp> module;
  test::TypingTable table;
};

Operation *TypingTableTest::buildOne(const SharedOp &op, ValueRange in) {
  FloatAttr half = builder.getF64FloatAttr(0.5);
  StringAttr spec = builder.getStringAttr(op.spec);
  if (op.kind == "einsum")
    return nn::create<nn::EinsumOp>(builder, loc, spec, in, half, TypeAttr());
  if (op.kind == "combine")
    return nn::create<nn::AddOp>(builder, loc, spec, in, DenseF64ArrayAttr());
  if (op.kind == "layer_norm")
    return nn::create<nn::LayerNormOp>(builder, loc, in[0], in[1], in[2], half);
  if (op.kind == "embedding")
    return nn::create<nn::EmbeddingOp>(builder, loc, in[0], in[1],
                                       IntegerAttr());
  if (op.kind == "pick")
    return nn::create<nn::PickOp>(builder, loc, in[0], in[1]);
  if (op.kind == "max")
    return nn::create<nn::MaxOp>(builder, loc, in[0]);
  if (op.kind == "dropout")
    return nn::create<nn::DropoutOp>(builder, loc, in[0], half,
                                     builder.getI64IntegerAttr(1));
  if (op.kind == "adamw")
    return nn::create<nn::AdamWOp>(builder, loc, in[0], in[1], in[2], in[3],
                                   in[4], in[5], half, half);
  IntegerAttr whole = builder.getI64IntegerAttr(1);
  auto attention = nn::AttentionAttr::get(
      &context, /*causal=*/true, APFloat(0.5), /*window=*/0, /*maxDistance=*/0);
  if (op.kind == "append")
    return nn::create<nn::AppendOp>(builder, loc, in[0], in[1], in[2], in[3],
                                    whole);
  if (op.kind == "attend")
    return nn::create<nn::CachedAttentionOp>(
        builder, loc, in[0], in[1], in[2], in[3], in[4],
        /*biasTable=*/Value(), attention, whole, UnitAttr());
  if (op.kind == "top")
    return nn::create<nn::TopOp>(builder, loc, in[0],
                                 in.size() > 1 ? in[1] : Value(),
                                 in.size() > 2 ? in[2] : Value(), whole);
  if (op.kind != "attention")
    return nullptr;
  return nn::createWithResults<nn::AttentionOp>(
      builder, loc, 2, in[0], in[1], in[2],
      /*biasTable=*/Value(), /*querySegments=*/Value(),
      /*keySegments=*/Value(), attention, builder.getF64FloatAttr(0),
      builder.getI64IntegerAttr(0));
}

/// Returns the op on new arguments; for `map`, one op per function.
std::vector<Operation *> TypingTableTest::build(const SharedOp &op) {
  Block &block = newFunction();
  for (auto [k, letters] :
       llvm::enumerate(dist::Signature::parse(op.spec).ins)) {
    std::string sized = letters;
    if (op.kind == "attention") // values are as long as keys
      std::replace(sized.begin(), sized.end(), 'c', 'd');
    block.addArgument(typeOf(sized, isIndex(op, k)), loc);
  }
  if (op.kind != "map")
    return {buildOne(op, block.getArguments())};
  std::vector<Operation *> ops;
  for (unsigned f = 0; f <= nn::getMaxEnumValForFunction(); ++f) {
    nn::Function function = *nn::symbolizeFunction(f);
    FloatAttr bound = nn::infoOf(function).has(nn::FunctionInfo::TakesBound)
                          ? builder.getF64FloatAttr(1)
                          : FloatAttr();
    ops.push_back(nn::create<nn::MapOp>(builder, loc, function,
                                        block.getArgument(0), bound));
  }
  return ops;
}

void TypingTableTest::setStates(Operation *op, const States &states) {
  for (auto [operand, state] : llvm::zip(op->getOperands(), states)) {
    auto type = dist::erased(cast<RankedTensorType>(operand.getType()));
    operand.setType(dist::withState(type, kAxis, parseState(state)));
  }
}

/// Whatever state the result is given, only the table's verifies.
void TypingTableTest::expectVerdicts(Operation *op, const SharedOp &shared,
                                     const States &states) {
  setStates(op, states);
  auto row = shared.rows.find(states);
  auto inferred = dist::inferResultTypes(op);
  bool accepted = row != shared.rows.end();
  ASSERT_EQ(succeeded(inferred), accepted) << join(states);
  auto plain = dist::erased(cast<RankedTensorType>(op->getResult(0).getType()));
  if (accepted) {
    for (auto [result, type] : llvm::zip(op->getResults(), *inferred))
      result.setType(type);
  }
  const bool isVector = plain.getRank() > 0;
  for (const std::string &out :
       alphabet(plain.getRank(), isVector ? States{"M", "L"} : States{"M"})) {
    op->getResult(0).setType(dist::withState(plain, kAxis, parseState(out)));
    EXPECT_EQ(succeeded(verify(op)), accepted && row->second == out)
        << join(states) << " -> " << out;
  }
}

void TypingTableTest::expectDualGradients(Operation *op, const States &states) {
  auto iface = dyn_cast<nn::DifferentiableOpInterface>(op);
  auto map = dyn_cast<nn::MapOp>(op);
  if (!iface || (map && !nn::infoOf(map.getFunction()).derivative))
    return;
  setStates(op, states);
  ASSERT_TRUE(succeeded(dist::setResultTypes(op)));
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  SmallVector<Value> resultGrads(op->getNumResults());
  resultGrads[0] = op->getBlock()->addArgument(dist::dualType(type), loc);
  SmallVector<bool> wanted;
  for (Value operand : op->getOperands())
    wanted.push_back(isa<FloatType>(getElementTypeOrSelf(operand.getType())));
  SmallVector<Value> grads(op->getNumOperands());
  Operation *last = &op->getBlock()->back();
  iface.buildBackward(builder, resultGrads, wanted, grads);
  for (auto [operand, grad, want] :
       llvm::zip(op->getOperands(), grads, wanted)) {
    auto operandType = cast<RankedTensorType>(operand.getType());
    if (!want)
      continue;
    ASSERT_TRUE(grad);
    EXPECT_EQ(grad.getType(), dist::dualType(operandType)) << join(states);
  }
  for (Operation &built : *op->getBlock())
    if (last->isBeforeInBlock(&built)) {
      EXPECT_TRUE(succeeded(verify(&built))) << join(states);
    }
}

TEST_F(TypingTableTest, InferAcceptsExactlyTheRows) {
  for (const SharedOp &shared : table.ops) {
    SCOPED_TRACE(shared.kind + " " + shared.spec);
    auto op = cast<dist::DistributableOpInterface>(build(shared)[0]);
    dist::Signature sig = op.getSignature(0);
    size_t accepted = 0;
    forEachChoice(options(shared, true), [&](const States &states) {
      std::string why;
      auto found = dist::infer(sig, parseStates(states), why);
      auto row = shared.rows.find(states);
      accepted += found.has_value();
      ASSERT_EQ(found.has_value(), row != shared.rows.end()) << join(states);
      EXPECT_NE(found.has_value(), !why.empty()) << "no remedy";
      if (found) {
        EXPECT_EQ(found->str(), row->second) << join(states);
      }
    });
    EXPECT_EQ(accepted, shared.rows.size()) << "a row was not tried";
  }
}

TEST_F(TypingTableTest, VerifierAcceptsExactlyTheRows) {
  for (const SharedOp &shared : table.ops)
    for (Operation *op : build(shared)) {
      SCOPED_TRACE(shared.kind + " " + shared.spec);
      forEachChoice(options(shared, false), [&](const States &states) {
        expectVerdicts(op, shared, states);
      });
    }
}

TEST_F(TypingTableTest, GradientsOfRowsHaveTheDualStates) {
  for (const SharedOp &shared : table.ops)
    for (const auto &[states, result] : shared.rows) {
      SCOPED_TRACE(shared.kind + " " + shared.spec);
      bool oneAxis = llvm::none_of(states, [](const std::string &s) {
        return s[0] == 'A' || s.size() > 4;
      });
      for (Operation *op : oneAxis ? build(shared) : std::vector<Operation *>())
        expectDualGradients(op, states);
    }
}

} // namespace
