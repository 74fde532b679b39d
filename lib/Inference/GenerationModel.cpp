//===- GenerationModel.cpp - the ops that make logits ---------------------===//

#include "lib/Inference/GenerationModel.h"
#include "tessera/Dialect/NN/Marks.h"
#include "tessera/Dialect/NN/NNProgram.h"
#include "tessera/Dialect/NN/TokenScores.h"

using namespace mlir;
using namespace tessera;

LogicalResult GenerationModel::checkFamily() {
  auto attrs = loss->getParentOfType<ModuleOp>()->getAttrOfType<DictionaryAttr>(
      nn::NNDialect::kModelAttr);
  if (attrs && attrs.get("mask_token"))
    return loss.emitError()
           << "generation needs a causal decoder, such as gpt2, llama, "
              "mistral, qwen2, mixtral or t5; this model is none";
  if (!attrs || !attrs.get("target"))
    return success();
  sourceIds = dataOf("ids");
  sourceSegments = dataOf("segments");
  if (sourceIds && sourceSegments)
    return success();
  return loss.emitError()
         << "attends to the padding of sources, which requests have of any "
            "length; import the config.json again with --padding-mask";
}

Value GenerationModel::dataOf(StringRef name) {
  for (BlockArgument argument : loss.getArguments()) {
    auto data = loss.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                  nn::NNDialect::kDataAttr);
    if (data && data == name)
      return argument;
  }
  return {};
}

/// In a model with an encoder, the decoder is what depends on its own ids.
void GenerationModel::splitOps(const SetVector<Operation *> &needed) {
  llvm::SmallPtrSet<Operation *, 32> ofRows;
  for (Operation &op : loss.getBody().front().without_terminator()) {
    if (!needed.contains(&op))
      continue;
    bool isOfRows =
        !sourceIds || llvm::any_of(op.getOperands(), [&](Value operand) {
          return operand == ids || ofRows.contains(operand.getDefiningOp());
        });
    if (!isOfRows) {
      sourceOps.push_back(&op);
      continue;
    }
    ofRows.insert(&op);
    ops.push_back(&op);
    if (nn::hasTag(&op, nn::Tag::Stream))
      lastOfStream = &op;
  }
}

LogicalResult GenerationModel::find() {
  nn::PickOp pick = findPick(loss);
  if (failed(checkFamily()))
    return failure();
  if (!pick)
    return loss.emitError() << "has no nn.pick, from whose logits a program "
                               "for generation is made";
  logits = pick.getLogits();
  SetVector<Operation *> needed;
  SmallVector<Value> todo = {logits};
  while (!todo.empty())
    if (Operation *op = todo.pop_back_val().getDefiningOp())
      if (needed.insert(op))
        llvm::append_range(todo, op->getOperands());
  ids = dataOf(sourceIds ? "decoder_ids" : "ids");
  splitOps(needed);
  if (ids && lastOfStream)
    return success();
  return loss.emitError() << "has no data 'ids' or no residual stream";
}
