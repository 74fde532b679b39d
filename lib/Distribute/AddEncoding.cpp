//===- AddEncoding.cpp - a program that runs an encoder -------------------===//
// It is made of the serial model, so that distribution, typing and erasure
// treat it like the training step: the ops that make the hidden states, and
// behind a choice of positions those that make the logits.
//===----------------------------------------------------------------------===//

#include "tessera/Dialect/NN/Marks.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/NN/NNProgram.h"
#include "tessera/Distribute/Dropout.h"
#include "tessera/Distribute/Passes.h"
#include "tessera/Distribute/Stages.h"

namespace tessera {
#define GEN_PASS_DEF_ADDENCODINGPASS
#include "tessera/Distribute/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;

namespace {

/// Turns a model into its program, in place.
class EncodingBuilder {
public:
  EncodingBuilder(func::FuncOp func, int64_t predictions)
      : func(func), predictions(predictions), b(func.getContext()) {}

  LogicalResult run();

private:
  LogicalResult find();
  Value addPositions();
  void returnValues();
  LogicalResult takeRows(Value positions);
  void removeUnused();
  NamedAttribute text(StringRef name, StringRef value) {
    return b.getNamedAttr(name, b.getStringAttr(value));
  }

  func::FuncOp func;
  int64_t predictions;
  OpBuilder b;
  Value hidden, logits;
};

/// The hidden states are the last of the residual stream.
LogicalResult EncodingBuilder::find() {
  for (auto pick : func.getOps<nn::PickOp>())
    logits = pick.getLogits();
  if (!logits)
    return func.emitError() << "has no nn.pick, from whose logits a program "
                               "for encoding is made";
  for (Operation &op : func.getBody().front())
    if (nn::hasTag(&op, nn::Tag::Stream))
      hidden = op.getResult(0);
  if (hidden)
    return success();
  return func.emitError() << "has no residual stream, whose last value is the "
                             "hidden states";
}

void EncodingBuilder::returnValues() {
  Operation *ret = func.getBody().front().getTerminator();
  ret->setOperands({hidden, logits});
  func.setType(
      b.getFunctionType(func.getArgumentTypes(), ret->getOperandTypes()));
  func.setAllResultAttrs(ArrayRef<DictionaryAttr>{
      b.getDictionaryAttr({text(nn::NNDialect::kRoleAttr, nn::kEncodeHidden),
                           text(nn::NNDialect::kDimsAttr, "bsh")}),
      b.getDictionaryAttr({text(nn::NNDialect::kRoleAttr, nn::kEncodeLogits),
                           text(nn::NNDialect::kDimsAttr, "bmv")})});
}

/// What only the loss reads: its ops, and the labels.
void EncodingBuilder::removeUnused() {
  SmallVector<Operation *> ops;
  for (Operation &op : func.getBody().front().without_terminator())
    ops.push_back(&op);
  for (Operation *op : llvm::reverse(ops))
    if (op->use_empty())
      op->erase();
  for (unsigned k = func.getNumArguments(); k-- > 0;)
    if (func.getArgument(k).use_empty() &&
        func.getArgAttr(k, nn::NNDialect::kDataAttr))
      (void)func.eraseArgument(k);
}

/// The positions of each sequence whose logits are wanted; below 0: none.
Value EncodingBuilder::addPositions() {
  auto shape = cast<RankedTensorType>(hidden.getType()).getShape();
  auto type = RankedTensorType::get({shape[0], std::min(predictions, shape[1])},
                                    b.getI32Type());
  unsigned last = func.getNumArguments();
  (void)func.insertArgument(
      last, type,
      b.getDictionaryAttr({text(nn::NNDialect::kDataAttr, nn::kEncodePositions),
                           text(nn::NNDialect::kDimsAttr, "bm")}),
      func.getLoc());
  return func.getArgument(last);
}

/// What is behind the stream treats each position alone.
LogicalResult EncodingBuilder::takeRows(Value positions) {
  Operation *stream = hidden.getDefiningOp();
  b.setInsertionPointAfter(stream);
  Value taken = nn::create<nn::TakeOp>(b, stream->getLoc(), hidden, positions);
  Operation *take = taken.getDefiningOp(),
            *last = stream->getBlock()->getTerminator();
  inheritChunk(take, stream);
  hidden.replaceUsesWithIf(taken, [&](OpOperand &use) {
    return use.getOwner() != take && use.getOwner() != last;
  });
  for (Operation *op = take->getNextNode(); op != last; op = op->getNextNode())
    if (failed(dist::setResultTypes(op)))
      return failure();
  func.setType(
      b.getFunctionType(func.getArgumentTypes(), last->getOperandTypes()));
  return success();
}

LogicalResult EncodingBuilder::run() {
  if (failed(find()))
    return failure();
  func.setName(nn::kEncodeName);
  func->setAttr(nn::kGenerationAttr, b.getStringAttr(nn::kEncodeName));
  removeDropout(func);
  returnValues();
  removeUnused();
  return takeRows(addPositions());
}

struct AddEncodingPass : tessera::impl::AddEncodingPassBase<AddEncodingPass> {
  using AddEncodingPassBase::AddEncodingPassBase;

  void runOnOperation() override {
    FailureOr<func::FuncOp> loss = nn::findProgram(getOperation(), "loss");
    if (failed(loss) || failed(checkModel(*loss)) ||
        failed(EncodingBuilder(*loss, predictions).run()))
      return signalPassFailure();
    describe(*loss);
  }

  LogicalResult checkModel(func::FuncOp loss);
  void describe(func::FuncOp program);
};

LogicalResult AddEncodingPass::checkModel(func::FuncOp loss) {
  auto model =
      getOperation()->getAttrOfType<DictionaryAttr>(nn::NNDialect::kModelAttr);
  if (predictions < 1)
    return loss.emitError()
           << "has predictions = " << static_cast<int64_t>(predictions)
           << "; it must be at least 1";
  if (model && model.get("target"))
    return loss.emitError()
           << "encoding needs a model that is an encoder alone, such as bert; "
              "this one has a decoder, too, and its encoder alone is not "
              "supported";
  if (model && model.get("mask_token"))
    return success();
  return loss.emitError()
         << "encoding needs an encoder, such as bert; this model is a causal "
            "decoder, which --programs generate runs";
}

/// The number of positions, for the runtime.
void AddEncodingPass::describe(func::FuncOp program) {
  Builder b(&getContext());
  auto positions = cast<RankedTensorType>(program.getArgumentTypes().back());
  NamedAttrList attrs(
      getOperation()->getAttrOfType<DictionaryAttr>(nn::NNDialect::kModelAttr));
  attrs.set("predictions", b.getI64IntegerAttr(positions.getDimSize(1)));
  getOperation()->setAttr(nn::NNDialect::kModelAttr,
                          attrs.getDictionary(&getContext()));
}

} // namespace
