//===- AttentionMask.cpp - which keys a query of attention sees -----------===//

#include "tessera/Dialect/NN/AttentionMask.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tessera::nn;

double AttentionMask::pairs(int64_t positions) const {
  double all = positions;
  if (!causal)
    return all * all;
  double seen = window ? std::min(window, positions) : positions;
  return seen * (all - seen / 2);
}

int64_t AttentionMask::ringSteps(int64_t slice, int64_t ranks) const {
  if (window == 0 || slice == 0 || cutsChunks(slice * ranks))
    return ranks;
  return std::min<int64_t>(ranks, 1 + llvm::divideCeil(window - 1, slice));
}

int64_t tessera::nn::attentionFlops(Value query, Value key, AttentionMask mask,
                                    int64_t products) {
  int64_t elements = cast<RankedTensorType>(query.getType()).getNumElements();
  int64_t keys = cast<RankedTensorType>(key.getType()).getDimSize(1);
  if (!mask.causal || mask.window == 0 || keys == 0)
    return products * 2 * elements * keys / (mask.causal ? 2 : 1);
  return static_cast<int64_t>(products * 2.0 * elements * mask.pairs(keys) /
                              keys);
}

int64_t tessera::nn::cachedAttentionFlops(Value query, Value keys,
                                          AttentionMask mask) {
  int64_t elements = cast<RankedTensorType>(query.getType()).getNumElements();
  int64_t places = cast<RankedTensorType>(keys.getType()).getDimSize(2);
  int64_t read = (places + 1) / 2;
  return 4 * elements * (mask.window ? std::min(read, mask.window) : read);
}
