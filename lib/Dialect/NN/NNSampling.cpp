//===- NNSampling.cpp - penalize, top -------------------------------------===//
// Letters: b lanes, m slots, v vocabulary, w tokens of a text, k candidates, z
// the numbers of each, q those of a draw.
//===----------------------------------------------------------------------===//

#include "tessera/Dialect/NN/NN.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::nn;
using dist::Padding;
using dist::Paddings;
using dist::Signature;

//===----------------------------------------------------------------------===//
// penalize
//===----------------------------------------------------------------------===//

Signature PenalizeOp::getSignature(unsigned) {
  Signature sig = Signature::parse("bmv,bmw,bm->bmv");
  sig.whole = "w";
  return sig;
}

/// Tokens name no padding of the vocabulary.
Padding PenalizeOp::getPadding(unsigned, char factor, Paddings p) {
  return factor == 'v' ? p[0] : Padding::Any;
}

//===----------------------------------------------------------------------===//
// top
//===----------------------------------------------------------------------===//

Signature TopOp::getSignature(unsigned) {
  Signature sig =
      Signature::parse(getDraws() ? "bmv,bm,bmq->bmkz" : "bmv->bmkz");
  sig.whole = "q";
  sig.reduces = dist::State::C;
  return sig;
}

int64_t TopOp::getNewFactorSize(char factor) {
  if (factor == 'k')
    return static_cast<int64_t>(getCount());
  return factor == 'z' ? (getDraws() ? 3 : 2) : -1;
}

Padding TopOp::getPadding(unsigned, char, Paddings) { return Padding::Any; }

LogicalResult TopOp::verify() {
  auto logits = cast<RankedTensorType>(getLogits().getType());
  // Indices beside values of 32 bits are exact up to here.
  constexpr int64_t most = 1 << 24;
  bool isWide = logits.getElementType().isF64();
  if (!isWide && !logits.getElementType().isF32())
    return emitOpError() << "has logits of " << logits.getElementType()
                         << "; they must be f32 or f64";
  if (!isWide && logits.getDimSize(2) > most)
    return emitOpError() << "has a vocabulary of " << logits.getDimSize(2)
                         << "; at most " << most << " indices are exact in f32";
  if (!getDraws() != !getSharpness())
    return emitOpError() << "draws with sharpness and draws; give both or none";
  if (!getDraws())
    return success();
  auto draws = cast<RankedTensorType>(getDraws().getType());
  if (draws.getDimSize(2) == 3)
    return success();
  return emitOpError() << "has draws of type " << draws
                       << "; the last dimension must be 3: the halves of a "
                          "seed, and a position";
}
