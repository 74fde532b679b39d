//===- AddEncoding.cpp - a program that runs an encoder -------------------===//
// It is made of the serial model, so that distribution, typing and erasure
// treat it like the training step: the ops that make the hidden states, and
// behind a choice of positions those that make the logits. Of an
// encoder-decoder model it is the encoder alone, which has no logits.
//===----------------------------------------------------------------------===//

#include "tessera/Dialect/NN/Marks.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/NN/NNProgram.h"
#include "tessera/Dialect/NN/TokenScores.h"
#include "tessera/Inference/Dropout.h"
#include "tessera/Inference/Passes.h"

namespace tessera {
#define GEN_PASS_DEF_ADDENCODINGPASS
#include "tessera/Inference/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;

namespace {

/// Turns a model into its program, in place.
class EncodingBuilder {
public:
  explicit EncodingBuilder(func::FuncOp func)
      : func(func), b(func.getContext()) {}

  /// Builds the program. With 0 predictions there is no head, and only hidden
  /// states are returned.
  LogicalResult run(int64_t predictions);

private:
  LogicalResult find(bool hasHead);
  Value addPositions(int64_t predictions);
  void returnValues();
  LogicalResult takeRows(Value positions);
  void removeUnused();
  NamedAttribute text(StringRef name, StringRef value) {
    return b.getNamedAttr(name, b.getStringAttr(value));
  }

  func::FuncOp func;
  OpBuilder b;
  Value hidden;
  Value logits; ///< Null without a head.
};

LogicalResult EncodingBuilder::find(bool hasHead) {
  if (nn::PickOp pick = findPick(func); pick && hasHead)
    logits = pick.getLogits();
  if (hasHead && !logits)
    return func.emitError() << "has no nn.pick, from whose logits a program "
                               "for encoding is made";
  if (Operation *op = nn::findHiddenStates(func.getBody().front())) {
    hidden = op->getResult(0);
    // Without the tag the last of the stream is the decoder's.
    if (hasHead || nn::hasTag(op, nn::Tag::Memory))
      return success();
    return func.emitError() << "has no op with the tag 'memory', which makes "
                               "an encoder's hidden states; import the "
                               "config.json again";
  }
  return func.emitError() << "has no residual stream, whose last value is the "
                             "hidden states";
}

void EncodingBuilder::returnValues() {
  Operation *ret = func.getBody().front().getTerminator();
  auto described = [&](StringRef role, StringRef dims) {
    return b.getDictionaryAttr({text(nn::NNDialect::kRoleAttr, role),
                                text(nn::NNDialect::kDimsAttr, dims)});
  };
  SmallVector<Value> values = {hidden};
  SmallVector<DictionaryAttr> attrs = {described(nn::kEncodeHidden, "bsh")};
  if (logits) {
    values.push_back(logits);
    attrs.push_back(described(nn::kEncodeLogits, "bmv"));
  }
  ret->setOperands(values);
  func.setType(
      b.getFunctionType(func.getArgumentTypes(), ret->getOperandTypes()));
  func.setAllResultAttrs(attrs);
}

/// Removes the ops, labels and parameters that only the loss, or a decoder,
/// reads.
void EncodingBuilder::removeUnused() {
  SmallVector<Operation *> ops;
  for (Operation &op : func.getBody().front().without_terminator())
    ops.push_back(&op);
  for (Operation *op : llvm::reverse(ops))
    if (op->use_empty())
      op->erase();
  for (unsigned k = func.getNumArguments(); k-- > 0;)
    if (func.getArgument(k).use_empty())
      (void)func.eraseArgument(k);
}

/// Returns the positions of each sequence whose logits are wanted; below 0:
/// none.
Value EncodingBuilder::addPositions(int64_t predictions) {
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

/// Takes the rows of the chosen positions, because ops behind the stream treat
/// each position alone. The choice is part of the stream: stages that are cut
/// there have it, too.
LogicalResult EncodingBuilder::takeRows(Value positions) {
  Operation *stream = hidden.getDefiningOp();
  b.setInsertionPointAfter(stream);
  Value taken = nn::create<nn::TakeOp>(b, stream->getNextNode()->getLoc(),
                                       hidden, positions);
  Operation *take = taken.getDefiningOp(),
            *last = stream->getBlock()->getTerminator();
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

LogicalResult EncodingBuilder::run(int64_t predictions) {
  if (failed(find(predictions > 0)))
    return failure();
  func.setName(nn::kEncodeName);
  func->setAttr(nn::kGenerationAttr, b.getStringAttr(nn::kEncodeName));
  removeDropout(func);
  returnValues();
  removeUnused();
  return logits ? takeRows(addPositions(predictions)) : success();
}

struct AddEncodingPass : tessera::impl::AddEncodingPassBase<AddEncodingPass> {
  using AddEncodingPassBase::AddEncodingPassBase;

  void runOnOperation() override {
    FailureOr<func::FuncOp> loss = nn::findSerialLoss(getOperation());
    if (failed(loss))
      return signalPassFailure();
    FailureOr<int64_t> wanted = choosePredictions(*loss);
    if (failed(wanted) || failed(EncodingBuilder(*loss).run(*wanted)))
      return signalPassFailure();
    describe(*loss, *wanted);
  }

  FailureOr<int64_t> choosePredictions(func::FuncOp loss);
  void describe(func::FuncOp program, int64_t wanted);
};

/// Positions whose logits can be asked for; 0 of a model without a head for
/// its encoder.
FailureOr<int64_t> AddEncodingPass::choosePredictions(func::FuncOp loss) {
  constexpr int64_t usual = 16;
  int64_t given = predictions;
  auto model =
      getOperation()->getAttrOfType<DictionaryAttr>(nn::NNDialect::kModelAttr);
  if (given < 0)
    return loss.emitError()
           << "has predictions = " << given << "; it must not be negative";
  if (model && model.get("target")) {
    if (given > 0)
      return loss.emitError()
             << "has logits behind its decoder alone, but --max-predictions "
             << given << " asks for those of its encoder; leave it out";
    return 0;
  }
  // An encoder alone may lack a mask token, but not types of tokens.
  if (model && (model.get("mask_token") || model.get("token_types")))
    return given ? given : usual;
  return loss.emitError()
         << "encoding needs an encoder, such as bert or t5; this model is a "
            "causal decoder, which --programs generate runs";
}

/// Describes the number of positions, for the runtime; and no decoder, if there
/// was one.
void AddEncodingPass::describe(func::FuncOp program, int64_t wanted) {
  Builder b(&getContext());
  NamedAttrList attrs(
      getOperation()->getAttrOfType<DictionaryAttr>(nn::NNDialect::kModelAttr));
  if (wanted > 0)
    wanted =
        cast<RankedTensorType>(program.getArgumentTypes().back()).getDimSize(1);
  attrs.set("predictions", b.getI64IntegerAttr(wanted));
  if (Attribute layers = attrs.erase("encoder_layers"))
    attrs.set("layers", layers);
  for (StringRef ofDecoder : {"target", "start_token", "pad_token"})
    attrs.erase(ofDecoder);
  getOperation()->setAttr(nn::NNDialect::kModelAttr,
                          attrs.getDictionary(&getContext()));
}

} // namespace
