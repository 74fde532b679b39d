//===- DecomposeLayers.cpp - attention, norms, rotations as formulas ------===//
// verify tests kernels with this pass: its formulas are differentiated op by
// op, so neither the forward nor the backward kernels of the replaced ops run.
//===----------------------------------------------------------------------===//

#include "lib/Model/AttentionFormula.h"
#include "tessera/Dialect/NN/Marks.h"
#include "tessera/Dialect/NN/NNProgram.h"
#include "tessera/Model/Passes.h"
#include "tessera/Options/Counted.h"
#include "llvm/ADT/TypeSwitch.h"

namespace tessera {
#define GEN_PASS_DEF_DECOMPOSELAYERSPASS
#include "tessera/Model/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;

namespace {

/// More scores than this in one tensor take too long, and too much memory.
constexpr int64_t kMostScores = int64_t(1) << 22;

class Decomposition {
public:
  explicit Decomposition(func::FuncOp func)
      : func(func), f(func), attention(f) {}
  void run();
  /// Says why ops are left as they were.
  SmallVector<std::string> whole;
  int64_t replaced = 0;

private:
  Value formulaOf(Operation *op);
  Value formula(nn::LayerNormOp op);
  Value formula(nn::RMSNormOp op);
  Value formula(nn::RopeOp op);
  Value formula(nn::AttentionOp op);
  Value rowMean(Value x, Value y);
  Value inverseRoot(Value x, APFloat epsilon);
  Value ofRows(nn::RopeOp op, Value angles);
  Value rotation(nn::RopeOp op);
  void replace(Operation *op, Value value);

  func::FuncOp func;
  Formulas f;
  AttentionFormulas attention;
};

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

/// Letters of a tensor and of its rows, "abc" and "ab".
struct RowLetters {
  explicit RowLetters(Value x)
      : all(dist::Signature::elementwise(
                cast<RankedTensorType>(x.getType()).getRank(), 1)
                .out),
        row(all.substr(0, all.size() - 1)), column(1, all.back()) {}
  std::string all, row, column;
};

Value Decomposition::rowMean(Value x, Value y) {
  RowLetters l(x);
  int64_t columns = cast<RankedTensorType>(x.getType()).getShape().back();
  std::string ins = y ? l.all + "," + l.all : l.all;
  return f.product(ins + "->" + l.row, y ? ValueRange{x, y} : ValueRange{x},
                   1.0 / static_cast<double>(columns));
}

Value Decomposition::inverseRoot(Value x, APFloat epsilon) {
  Value shifted = f.scaled(x, 1, epsilon.convertToDouble());
  return f.map(nn::Function::Reciprocal, f.map(nn::Function::Sqrt, shifted));
}

Value Decomposition::formula(nn::LayerNormOp op) {
  Value x = op.getInput();
  RowLetters l(x);
  Value centered = f.sum(l.all + "," + l.row + "->" + l.all,
                         {x, rowMean(x, nullptr)}, {1, -1});
  Value inverse = inverseRoot(rowMean(centered, centered), op.getEpsilon());
  Value normalized =
      f.product(l.all + "," + l.row + "->" + l.all, {centered, inverse});
  Value weighted = f.product(l.all + "," + l.column + "->" + l.all,
                             {normalized, op.getWeight()});
  return f.sum(l.all + "," + l.column + "->" + l.all, {weighted, op.getBias()});
}

Value Decomposition::formula(nn::RMSNormOp op) {
  Value x = op.getInput();
  RowLetters l(x);
  Value inverse = inverseRoot(rowMean(x, x), op.getEpsilon());
  Value normalized =
      f.product(l.all + "," + l.row + "->" + l.all, {x, inverse});
  return f.product(l.all + "," + l.column + "->" + l.all,
                   {normalized, op.getWeight()});
}

//===----------------------------------------------------------------------===//
// Rotations
//===----------------------------------------------------------------------===//

/// Spreads angles [sequence, d / 2] or [batch, sequence, d / 2] to the shape of
/// the heads. Both halves of a head turn by the same angles.
Value Decomposition::ofRows(nn::RopeOp op, Value angles) {
  ArrayRef<int64_t> shape =
      cast<RankedTensorType>(op.getInput().getType()).getShape();
  const bool hasBatch = cast<RankedTensorType>(angles.getType()).getRank() == 3;
  const int64_t half = shape.back() / 2;
  const std::string rows = shape.size() == 5 ? "bsgr" : "bsn";
  const std::string places = hasBatch ? "xz" : "z";
  Value column = f.difference("d", f.count(shape.back()), "e", f.count(half));
  Value isColumn = f.sum(
      "de,de->de", {f.isZero(column),
                    f.isZero(f.scaled(column, 1, -static_cast<double>(half)))});
  Value both = f.product(places + "e,de->" + places + "d", {angles, isColumn});
  SmallVector<double> weights(rows.size(), 0), ofPlaces = {1};
  const double length = static_cast<double>(shape[1]);
  weights[0] = hasBatch ? length : 0;
  weights[1] = 1;
  if (hasBatch)
    ofPlaces = {length, 1};
  SmallVector<int64_t> sizes(shape.take_front(2));
  Value place = f.difference(
      rows, f.indices(rows, shape.drop_back(), weights), places,
      f.indices(places, ArrayRef(sizes).take_back(places.size()), ofPlaces));
  return f.product(rows + places + "," + places + "d->" + rows + "d",
                   {f.isZero(place), both});
}

/// Returns the matrix [d, d] that takes x to (-x2, x1), of a head's halves x1
/// and x2.
Value Decomposition::rotation(nn::RopeOp op) {
  const int64_t size =
      sizeAt(op.getCosines(),
             cast<RankedTensorType>(op.getCosines().getType()).getRank() - 1) *
      2;
  const double half = static_cast<double>(size / 2);
  Value ahead = f.difference("d", f.count(size), "f", f.count(size));
  Value first = f.isZero(f.scaled(ahead, 1, -half)); // d = f + half
  Value second = f.isZero(f.scaled(ahead, 1, half)); // f = d + half
  const double sign = op.getInverse() ? -1 : 1;
  return f.sum("df,df->df", {first, second}, {-sign, sign});
}

/// x cos + (x R) sin, of a head's elements.
Value Decomposition::formula(nn::RopeOp op) {
  Value x = op.getInput();
  const std::string rows =
      cast<RankedTensorType>(x.getType()).getRank() == 5 ? "bsgr" : "bsn";
  Value turned = f.product(rows + "d,df->" + rows + "f", {x, rotation(op)});
  Value along = f.times(x, ofRows(op, op.getCosines()));
  Value across = f.times(turned, ofRows(op, op.getSines()));
  const std::string all = rows + "d";
  return f.sum(all + "," + all + "->" + all, {along, across});
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

Value Decomposition::formula(nn::AttentionOp op) {
  auto leave = [&](const Twine &why) {
    StringRef part = nn::partOf(op.getLoc());
    whole.push_back(
        ("attention" + (part.empty() ? "" : " of " + part) + ": " + why).str());
    return Value();
  };
  auto isData = [](Value segments) {
    return !segments || isa<BlockArgument>(segments);
  };
  if (!op.getLse().use_empty())
    return leave("the program reads its log-sum-exp");
  if (!isData(op.getQuerySegments()) || !isData(op.getKeySegments()))
    return leave("its segments are no data of the program");
  if (int64_t scores = AttentionFormulas::scoresOf(op); scores > kMostScores)
    return leave("its batch has " + Twine(scores) + " scores, more than " +
                 Twine(kMostScores));
  return attention.build(op);
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

Value Decomposition::formulaOf(Operation *op) {
  return TypeSwitch<Operation *, Value>(op)
      .Case<nn::LayerNormOp, nn::RMSNormOp, nn::RopeOp, nn::AttentionOp>(
          [&](auto one) { return formula(one); })
      .Default([](Operation *) { return Value(); });
}

/// The formula takes over the attributes of the op, which plans read, and the
/// name that verify gives its result.
void Decomposition::replace(Operation *op, Value value) {
  Operation *made =
      f.cast(value, getElementTypeOrSelf(op->getResult(0))).getDefiningOp();
  for (NamedAttribute attr : op->getDiscardableAttrs())
    made->setAttr(attr.getName(), attr.getValue());
  Builder b(op->getContext());
  made->setAttr(
      nn::kFormulaAttr,
      b.getDictionaryAttr(
          {b.getNamedAttr("of", b.getStringAttr(op->getName().stripDialect())),
           b.getNamedAttr("results",
                          b.getI64IntegerAttr(op->getNumResults()))}));
  op->getResult(0).replaceAllUsesWith(made->getResult(0));
  op->erase();
  ++replaced;
}

void Decomposition::run() {
  for (Operation &op : llvm::make_early_inc_range(
           func.getBody().front().without_terminator())) {
    if (op.hasAttr(nn::kFormulaAttr) || op.getNumOperands() == 0)
      continue;
    f.begin(&op, getElementTypeOrSelf(op.getOperand(0).getType()));
    if (Value value = formulaOf(&op))
      replace(&op, value);
  }
}

struct DecomposeLayersPass
    : tessera::impl::DecomposeLayersPassBase<DecomposeLayersPass> {
  void runOnOperation() override {
    FailureOr<func::FuncOp> loss = nn::findSerialLoss(getOperation());
    if (failed(loss))
      return signalPassFailure();
    Decomposition decomposition(*loss);
    decomposition.run();
    Builder b(&getContext());
    SmallVector<Attribute> whole;
    for (const std::string &why : decomposition.whole)
      whole.push_back(b.getStringAttr(why));
    getOperation()->setAttr(
        nn::kFormulaAttr,
        b.getDictionaryAttr(
            {b.getNamedAttr("replaced",
                            b.getI64IntegerAttr(decomposition.replaced)),
             b.getNamedAttr("whole", b.getArrayAttr(whole))}));
  }
};

} // namespace
