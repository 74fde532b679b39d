//===- AddEvaluation.cpp - a program that only measures -------------------===//
// It is made of the serial model, so that distribution, typing and erasure
// treat it like the training step. Parameters lie where the step has them.
//===----------------------------------------------------------------------===//

#include "tessera/Dialect/Dist/Chunks.h"
#include "tessera/Dialect/NN/Marks.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/NN/NNProgram.h"
#include "tessera/Inference/Dropout.h"
#include "tessera/Inference/Passes.h"
#include "llvm/ADT/SetVector.h"
#include <cmath>

namespace tessera {
#define GEN_PASS_DEF_ADDEVALUATIONPASS
#include "tessera/Inference/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;

namespace {

/// The mean over labels, and what it is made of.
struct CrossEntropy {
  nn::EinsumOp mean;
  nn::PickOp target;     ///< The logits of the labels.
  nn::CountedOp counted; ///< Null: all labels count.
  Operation *count = nullptr;
};

nn::EinsumOp findMean(func::FuncOp func) {
  for (auto op : func.getOps<nn::EinsumOp>())
    if (nn::hasTag(op, nn::Tag::CrossEntropy))
      return op;
  return {};
}

/// Looks at all that a mean is made of.
LogicalResult findParts(CrossEntropy &loss) {
  SetVector<Operation *> sources;
  sources.insert(loss.mean);
  for (size_t next = 0; next < sources.size(); ++next) {
    Operation *op = sources[next];
    if (auto pick = dyn_cast<nn::PickOp>(op))
      loss.target = pick;
    if (auto counted = dyn_cast<nn::CountedOp>(op))
      loss.counted = counted;
    if (nn::hasTag(op, nn::Tag::BatchTotal))
      loss.count = op;
    for (Value operand : op->getOperands())
      if (Operation *source = operand.getDefiningOp())
        sources.insert(source);
  }
  if (loss.target && !loss.counted == !loss.count)
    return success();
  return loss.mean.emitOpError()
         << "is marked as a cross-entropy, but is not made of nn.pick and, "
            "where labels may be ignored, of their number";
}

/// Builds the evaluation in a copy of the model.
class EvaluationBuilder {
public:
  explicit EvaluationBuilder(func::FuncOp func)
      : func(func), ret(func.getBody().front().getTerminator()), builder(ret) {}

  LogicalResult run();

private:
  void countLabels(CrossEntropy &loss);
  void returnValues(const CrossEntropy &loss);
  Value correctlyPredicted(const CrossEntropy &loss);
  void removeUnused();
  template <typename OpTy, typename... Args> Value emit(Args &&...args);

  func::FuncOp func;
  Operation *ret;
  OpBuilder builder;
  Operation *last = nullptr; ///< The model's last op: new ops are in its chunk.
};

template <typename OpTy, typename... Args>
Value EvaluationBuilder::emit(Args &&...args) {
  auto op =
      nn::create<OpTy>(builder, last->getLoc(), std::forward<Args>(args)...);
  inheritChunk(op, last);
  return op.getOutput();
}

/// Returns whether a sum over tokens is scaled by one over their number in all
/// micro-batches.
static bool isMean(nn::EinsumOp sum) {
  auto tokens = cast<ShapedType>(sum.getInputs().front().getType());
  auto model = sum->getParentOfType<ModuleOp>()->getAttrOfType<DictionaryAttr>(
      nn::NNDialect::kModelAttr);
  auto batches = model ? model.getAs<IntegerAttr>("micro_batches") : nullptr;
  auto count = static_cast<double>(tokens.getNumElements() *
                                   (batches ? batches.getInt() : 1));
  return std::abs(sum.getScale().convertToDouble() * count - 1) < 1e-12;
}

/// mean(t) -> sum(t counted(labels)) / sum(counted(labels)). The last batch of
/// the data may be filled up with sequences whose labels are negative, and a
/// model that counts all labels would measure these too.
void EvaluationBuilder::countLabels(CrossEntropy &loss) {
  nn::EinsumOp mean = loss.mean;
  if (loss.counted || mean.getInputs().size() != 1 || mean.getSpec() != "bs->")
    return;
  Value tokens = mean.getInputs().front();
  if (!isMean(mean)) // an .mlir program may have another loss
    return;
  auto spec = [&](StringRef text) { return builder.getStringAttr(text); };
  FloatAttr one = builder.getF64FloatAttr(1.0);
  Value counted = emit<nn::CountedOp>(
      nn::PickOp(loss.target).getLabels(),
      TypeAttr::get(getElementTypeOrSelf(tokens.getType())), IntegerAttr());
  Value count =
      emit<nn::EinsumOp>(spec("bs->"), ValueRange{counted}, one, TypeAttr());
  Value sum = emit<nn::EinsumOp>(spec("bs,bs->"), ValueRange{tokens, counted},
                                 one, TypeAttr());
  Value inverse = emit<nn::MapOp>(
      nn::FunctionAttr::get(builder.getContext(), nn::Function::Reciprocal),
      count, FloatAttr());
  Value ratio = emit<nn::EinsumOp>(spec(",->"), ValueRange{sum, inverse}, one,
                                   TypeAttr());
  loss.counted = counted.getDefiningOp<nn::CountedOp>();
  loss.count = count.getDefiningOp();
  loss.mean = ratio.getDefiningOp<nn::EinsumOp>();
  nn::setTag(loss.count, nn::Tag::BatchTotal);
  nn::setTag(loss.mean, nn::Tag::CrossEntropy);
}

/// Returns the number of labels that have the largest logit: 1 - rank is 1 for
/// these and not positive for others.
Value EvaluationBuilder::correctlyPredicted(const CrossEntropy &loss) {
  nn::PickOp pick = loss.target;
  auto spec = [&](StringRef text) { return builder.getStringAttr(text); };
  Type element = getElementTypeOrSelf(pick.getType());
  Value rank = emit<nn::LabelRankOp>(pick.getLogits(), pick.getLabels(), pick);
  Value one = emit<nn::ConstantOp>(builder.getF64FloatAttr(1.0),
                                   TypeAttr::get(element));
  Value first = emit<nn::AddOp>(spec("bs,->bs"), ValueRange{rank, one},
                                builder.getDenseF64ArrayAttr({-1.0, 1.0}));
  Value correct = emit<nn::MapOp>(
      nn::FunctionAttr::get(builder.getContext(), nn::Function::Relu), first,
      FloatAttr());
  SmallVector<Value> factors = {correct};
  if (loss.counted)
    factors.push_back(nn::CountedOp(loss.counted).getOutput());
  return emit<nn::EinsumOp>(spec(loss.counted ? "bs,bs->" : "bs->"), factors,
                            builder.getF64FloatAttr(1.0), TypeAttr());
}

void EvaluationBuilder::returnValues(const CrossEntropy &loss) {
  SmallVector<Value> values = {nn::EinsumOp(loss.mean).getOutput(),
                               correctlyPredicted(loss)};
  SmallVector<StringRef> roles = {nn::kEvaluationLoss, nn::kEvaluationCorrect};
  if (loss.count) {
    values.push_back(loss.count->getResult(0));
    roles.push_back(nn::kEvaluationCount);
  }
  SmallVector<DictionaryAttr> attrs;
  for (StringRef role : roles)
    attrs.push_back(builder.getDictionaryAttr(builder.getNamedAttr(
        nn::NNDialect::kRoleAttr, builder.getStringAttr(role))));
  ret->setOperands(values);
  func.setType(
      builder.getFunctionType(func.getArgumentTypes(), ret->getOperandTypes()));
  func.setAllResultAttrs(attrs);
}

/// Removes the ops that only other parts of the loss read: the balance of
/// experts.
void EvaluationBuilder::removeUnused() {
  SmallVector<Operation *> ops;
  for (Operation &op : func.getBody().front().without_terminator())
    ops.push_back(&op);
  for (Operation *op : llvm::reverse(ops))
    if (op->use_empty())
      op->erase();
}

LogicalResult EvaluationBuilder::run() {
  CrossEntropy loss{findMean(func), {}, {}};
  if (failed(findParts(loss)))
    return failure();
  last = loss.mean;
  removeDropout(func);
  countLabels(loss);
  returnValues(loss);
  removeUnused();
  return success();
}

struct AddEvaluationPass
    : tessera::impl::AddEvaluationPassBase<AddEvaluationPass> {
  void runOnOperation() override {
    FailureOr<func::FuncOp> loss = nn::findSerialLoss(getOperation());
    if (failed(loss))
      return signalPassFailure();
    if (!findMean(*loss))
      return markAllAnalysesPreserved();
    func::FuncOp copy = loss->clone();
    copy.setName(nn::kEvaluationName);
    copy->setAttr(nn::kEvaluationAttr, UnitAttr::get(&getContext()));
    getOperation().insert(std::next((*loss)->getIterator()), copy);
    if (failed(EvaluationBuilder(copy).run()))
      signalPassFailure();
  }
};

} // namespace
