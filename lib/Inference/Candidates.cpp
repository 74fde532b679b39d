//===- Candidates.cpp - what sampling reads of logits ---------------------===//

#include "lib/Inference/Candidates.h"
#include "tessera/Dialect/NN/NN.h"

using namespace mlir;
using namespace tessera;

Candidates tessera::findCandidates(OpBuilder &b, Location loc, Value logits,
                                   const SamplingData &data, int64_t count) {
  auto product = [&](StringRef spec, ValueRange inputs) -> Value {
    return nn::create<nn::EinsumOp>(b, loc, b.getStringAttr(spec), inputs,
                                    b.getF64FloatAttr(1.0), TypeAttr());
  };
  Value penalized =
      nn::create<nn::PenalizeOp>(b, loc, logits, data.tokens, data.penalties);
  Value largest = nn::create<nn::MaxOp>(b, loc, penalized);
  Value shifted = nn::create<nn::AddOp>(b, loc, b.getStringAttr("bmv,bm->bmv"),
                                        ValueRange{penalized, largest},
                                        b.getDenseF64ArrayAttr({1, -1}));
  Value weights = nn::create<nn::MapOp>(
      b, loc, nn::FunctionAttr::get(b.getContext(), nn::Function::Exp),
      product("bmv,bm->bmv", {shifted, data.sharpness}), FloatAttr());
  Candidates made;
  made.total = product("bmv->bm", weights);
  made.best = nn::create<nn::TopOp>(b, loc, penalized, Value(), Value(),
                                    b.getI64IntegerAttr(count));
  made.drawn = nn::create<nn::TopOp>(b, loc, penalized, data.sharpness,
                                     data.draws, b.getI64IntegerAttr(1));
  return made;
}
