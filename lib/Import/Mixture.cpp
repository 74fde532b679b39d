//===- Mixture.cpp - mixtures of experts ----------------------------------===//
// Jiang et al. 2024, as Hugging Face's MixtralForCausalLM computes it: the
// feed-forward is that of the k experts which a router chooses per token.
// Letters beside DecoderBuilder.cpp's: x experts, y experts in the router's
// weight, u one.
//===----------------------------------------------------------------------===//

#include "lib/Import/DecoderBuilder.h"
#include "tessera/Dialect/NN/Marks.h"

using namespace mlir;
using namespace tessera;

static Value tagged(Value value, nn::Tag tag) {
  nn::setTag(value.getDefiningOp(), tag);
  return value;
}

/// Chooses the k largest logits of each token.
DecoderBuilder::Routing DecoderBuilder::route(Value tokens,
                                              const std::string &name) {
  const Experts &experts = *config.experts;
  Value w = parameter({name + "gate.weight",
                       "yh",
                       {experts.count, config.hidden},
                       {},
                       normal(config.initializerRange),
                       true});
  Value scores = einsum("bsh,yh->bsy", {tokens, w});
  Value gates = nn::create<nn::TopKOp>(
      b, loc, b.getI64IntegerAttr(experts.perToken), scores);
  if (experts.normalizes && experts.balance == 0)
    return {gates, {}};
  Value top = nn::create<nn::MaxOp>(b, loc, scores);
  Value e = map(nn::Function::Exp, add("bsx,bs->bsx", {scores, top}, {1, -1}));
  Value perToken = map(nn::Function::Reciprocal, einsum("bsx->bs", e));
  if (experts.balance > 0)
    noteBalance(gates, e, perToken);
  if (experts.normalizes)
    return {gates, {}};
  Value chosen = nn::create<nn::RoutedOp>(b, loc, gates);
  Value share =
      einsum("bs,bs->bs", {einsum("bsx,bsx->bs", {e, chosen}), perToken});
  return {gates, share};
}

/// Files hold the matrix of each expert under its number.
Value DecoderBuilder::expertLinear(Value rows, Value gates,
                                   const std::string &name, bool widens) {
  int64_t x = config.experts->count, h = config.hidden;
  int64_t f = config.experts->inner;
  StringRef dims = widens ? "xfh" : "xhf";
  SmallVector<int64_t> shape = {x, widens ? f : h, widens ? h : f};
  Value w = parameter({name + ".weight",
                       dims,
                       shape,
                       {},
                       normal(config.initializerRange),
                       true});
  return nn::create<nn::ExpertLinearOp>(b, loc, rows, w, /*scales=*/Value(),
                                        gates, UnitAttr(), TypeAttr(),
                                        TypeAttr());
}

/// Builds sigmoid(w x) * expert(x), for all tokens (Dai et al. 2024).
Value DecoderBuilder::shared(Value x, const std::string &name) {
  Value y =
      gated(branch(x), name + "shared_expert.", config.experts->sharedInner);
  Value w = parameter({name + "shared_expert_gate.weight",
                       "uh",
                       {1, config.hidden},
                       {},
                       normal(config.initializerRange),
                       true});
  Value gate = map(nn::Function::Sigmoid, einsum("bsh,uh->bsu", {x, w}));
  return einsum("bsh,bs->bsh", {y, einsum("bsu->bs", gate)});
}

/// Returns the sum over a token's experts of gate * down(f(gate x) * up x).
/// Gates that are probabilities among all experts are those of the chosen
/// ones, which add up to 1, times the share of these.
Value DecoderBuilder::mixture(Value a, const std::string &name) {
  const LayerNames &names = config.family->names;
  auto [gates, share] = route(a, name);
  Value rows = tagged(nn::create<nn::DispatchOp>(b, loc, a, gates, UnitAttr()),
                      nn::Tag::Dispatch);
  auto part = [&, gates = gates](Value in, StringRef which, bool widens) {
    return expertLinear(in, gates, name + "experts.*." + which.str(), widens);
  };
  Value gate = map(config.activation, part(rows, names.expertGate, true));
  Value inner =
      einsum("xbsf,xbsf->xbsf", {gate, part(rows, names.expertUp, true)});
  Value y = tagged(
      nn::create<nn::CollectOp>(b, loc, part(inner, names.expertDown, false),
                                gates, b.getUnitAttr()),
      nn::Tag::Collect);
  if (share)
    y = einsum("bsh,bs->bsh", {y, share});
  if (config.experts->sharedInner)
    y = add("bsh,bsh->bsh", {y, shared(a, name)});
  return y;
}

//===----------------------------------------------------------------------===//
// Load balance
//===----------------------------------------------------------------------===//

/// Adds a layer's sums over tokens, without padding: how many an expert gets,
/// and how probable it is for them in the softmax over all experts, whose
/// exponentials and the inverse of their sums are given.
void DecoderBuilder::noteBalance(Value gates, Value e, Value perToken) {
  Value isToken = documents ? counted(documents) : Value();
  if (isToken)
    perToken = einsum("bs,bs->bs", {perToken, isToken});
  Value probable = einsum("bsx,bs->x", {e, perToken});
  Value chosen = nn::create<nn::RoutedOp>(b, loc, gates);
  Value tokens = isToken ? einsum("bsx,bs->x", {chosen, isToken})
                         : einsum("bsx->x", chosen);
  if (!routedTokens) {
    routedTokens = tokens;
    probabilities = probable;
    return;
  }
  routedTokens = add("x,x->x", {routedTokens, tokens});
  probabilities = add("x,x->x", {probabilities, probable});
}

/// The product, divided by the square of the number of tokens if some may be
/// padding. Of no token the product is 0, and 1 divides it.
Value DecoderBuilder::perTokens(Value product) {
  if (!documents)
    return product;
  Value count = einsum("bs->", counted(documents));
  Value none = map(nn::Function::Relu, add(",->", {number(1), count}, {1, -1}));
  Value share = map(nn::Function::Reciprocal, add(",->", {count, none}));
  return einsum(",->", {einsum(",->", {product, share}), share});
}

/// Plus balance * experts * sum over experts of (share of tokens * mean
/// probability), means over the tokens of all layers of a micro-batch (Fedus
/// et al. 2022, section 2.2), itself a mean over micro-batches.
Value DecoderBuilder::withBalance(Value loss) {
  if (!routedTokens)
    return loss;
  enter("balance", locations.layers);
  const Experts &experts = *config.experts;
  // Padding is not counted here, but by `perTokens`.
  double tokens = static_cast<double>(
      llvm::count_if(config.layers, [](const DecoderLayer &layer) {
        return layer.isMixture;
      }));
  if (!documents)
    tokens *= static_cast<double>(sizes.batch / sizes.microBatches) *
              static_cast<double>(sizes.sequence);
  double scale = experts.balance * static_cast<double>(experts.count) /
                 (tokens * tokens * static_cast<double>(sizes.microBatches));
  Value balance =
      perTokens(einsum("x,x->", {routedTokens, probabilities}, scale));
  enter(program::kLossPart, locations.embedding);
  return add(",->", {loss, balance});
}
