//===- NNAttention.cpp - what a model says about attention ----------------===//

#include "tessera/Dialect/NN/NN.h"

using namespace mlir;
using namespace tessera::nn;

AttentionMask AttentionAttr::getMask() const {
  return {getCausal(), getWindow()};
}

AttentionAttr AttentionAttr::withMask(AttentionMask mask) const {
  return get(getContext(), mask.causal, getScale(), mask.window,
             getMaxDistance());
}

LogicalResult
AttentionAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                      bool causal, APFloat scale, int64_t window,
                      int64_t maxDistance) {
  if (!scale.isFinite())
    return emitError() << "attention has scale = " << scale.convertToDouble()
                       << "; it must be finite";
  if (window < 0)
    return emitError() << "attention has window = " << window
                       << "; it must be at least 1, or absent";
  if (window > 0 && !causal)
    return emitError() << "attention has window = " << window
                       << " but is not causal; a window is of keys before the "
                          "query";
  if (maxDistance < 0)
    return emitError() << "attention has max_distance = " << maxDistance
                       << "; it must be at least 1, or absent";
  return success();
}

LogicalResult tessera::nn::verifyBiasTable(Operation *op,
                                           AttentionAttr attention, Value query,
                                           Value biases) {
  int64_t farthest = attention.getMaxDistance();
  if (!biases && farthest == 0)
    return success();
  if (!biases)
    return op->emitOpError() << "has max_distance = " << farthest
                             << " but no table of biases; give both or none";
  auto table = cast<RankedTensorType>(biases.getType());
  bool isGrouped = cast<RankedTensorType>(query.getType()).getRank() == 5;
  if (isGrouped || table.getRank() != 2)
    return op->emitOpError() << "adds biases of a table of type " << table
                             << "; it must be [buckets, heads], and heads must "
                                "not be in groups";
  int64_t sides = attention.getCausal() ? 1 : 2, buckets = table.getDimSize(0);
  int64_t exact = buckets / sides / 2;
  if (buckets % sides == 0 && exact >= 1 && farthest > exact)
    return success();
  return op->emitOpError() << "has " << buckets << " buckets to distance "
                           << farthest << "; it needs "
                           << (sides == 1 ? "at least 2"
                                          : "an even number, at least 4")
                           << " and a distance above "
                           << std::max<int64_t>(exact, 1);
}

LogicalResult tessera::nn::verifyCausalBiasTable(Operation *op,
                                                 AttentionAttr attention,
                                                 Value query, Value table) {
  if (table && !attention.getCausal())
    return op->emitOpError() << "adds biases by distance but is not causal; a "
                                "row reads no keys after it";
  return verifyBiasTable(op, attention, query, table);
}
