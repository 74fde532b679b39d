//===- NNRope.cpp - rotary position embedding -----------------------------===//
// x "bsnd" or "bsgrd", cosines and sines "se" or "bse", e half of d; d stays
// whole.
//===----------------------------------------------------------------------===//

#include "tessera/Dialect/NN/NN.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::nn;
using dist::Padding;
using dist::Paddings;
using dist::Signature;

/// A rotation is linear in what it rotates.
Signature RopeOp::getSignature(unsigned) {
  auto rankOf = [](Value value) {
    return cast<RankedTensorType>(value.getType()).getRank();
  };
  std::string heads = rankOf(getInput()) == 5 ? "bsgrd" : "bsnd";
  std::string angles = rankOf(getCosines()) == 3 ? "bse" : "se";
  Signature sig =
      Signature::parse(heads + "," + angles + "," + angles + "->" + heads);
  sig.linear = {{0}};
  sig.whole = "de";
  return sig;
}

Padding RopeOp::getPadding(unsigned, char, Paddings p) {
  return dist::sumOf(
      {dist::productOf({p[0], p[1]}), dist::productOf({p[0], p[2]})});
}

LogicalResult RopeOp::verify() {
  int64_t d = cast<RankedTensorType>(getInput().getType()).getShape().back();
  int64_t e = cast<RankedTensorType>(getCosines().getType()).getShape().back();
  if (d == 2 * e)
    return success();
  return emitOpError() << "rotates heads of size " << d << " by " << e
                       << " angles; it needs half as many angles as elements";
}

void RopeOp::buildBackward(OpBuilder &builder, ArrayRef<Value> resultGrads,
                           ArrayRef<bool> wanted,
                           MutableArrayRef<Value> operandGrads) {
  if (wanted[0])
    operandGrads[0] = nn::create<RopeOp>(
        builder, getLoc(), resultGrads[0], getCosines(), getSines(),
        getInverse() ? UnitAttr() : builder.getUnitAttr());
}
