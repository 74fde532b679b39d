//===- TokenScores.cpp - how probable given next tokens are ---------------===//

#include "tessera/Dialect/NN/TokenScores.h"

using namespace mlir;
using namespace tessera;

/// log softmax(x)[k] = x[k] - max x - log sum exp(x - max x), as the importer's
/// cross-entropy has it. The rank needs the label's logit on all ranks, so it
/// comes first: then the sum has it, too.
TokenScores tessera::scoreLabels(OpBuilder &b, Location loc, Value logits,
                                 Value labels) {
  auto add = [&](StringRef spec, ValueRange inputs,
                 ArrayRef<double> coefs) -> Value {
    return nn::create<nn::AddOp>(b, loc, b.getStringAttr(spec), inputs,
                                 b.getDenseF64ArrayAttr(coefs));
  };
  auto map = [&](nn::Function function, Value x) -> Value {
    return nn::create<nn::MapOp>(
        b, loc, nn::FunctionAttr::get(b.getContext(), function), x,
        FloatAttr());
  };
  Value top = nn::create<nn::MaxOp>(b, loc, logits);
  Value shifted = add("bsv,bs->bsv", {logits, top}, {1, -1});
  Value total = nn::create<nn::EinsumOp>(b, loc, b.getStringAttr("bsv->bs"),
                                         map(nn::Function::Exp, shifted),
                                         b.getF64FloatAttr(1.0), TypeAttr());
  Value picked = nn::create<nn::PickOp>(b, loc, logits, labels);
  Value rank = nn::create<nn::LabelRankOp>(b, loc, logits, labels, picked);
  Value logTotal = map(nn::Function::Log, total);
  return {add("bs,bs,bs->bs", {logTotal, top, picked}, {-1, -1, 1}), rank};
}

nn::PickOp tessera::findPick(func::FuncOp loss) {
  nn::PickOp pick;
  for (auto op : loss.getOps<nn::PickOp>())
    pick = op;
  return pick;
}
