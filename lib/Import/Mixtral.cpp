//===- Mixtral.cpp - mixtures of experts ----------------------------------===//
// Jiang et al. 2024, as Hugging Face's MixtralForCausalLM computes it: a LLaMA
// whose feed-forward is that of the k experts which a router chooses per token.
// Letters beside Llama.cpp's: x experts, y experts in the router's weight.
//===----------------------------------------------------------------------===//

#include "lib/Import/LlamaBuilder.h"
#include "tessera/Dialect/NN/Marks.h"

using namespace mlir;
using namespace tessera;

static Value tagged(Value value, nn::Tag tag) {
  nn::setTag(value.getDefiningOp(), tag);
  return value;
}

/// Returns the gates of each token: the softmax over its k largest logits.
Value LlamaBuilder::route(Value tokens, const std::string &name) {
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
  if (experts.balance > 0)
    noteBalance(scores, gates);
  return gates;
}

/// Files hold the matrix of each expert under its number.
Value LlamaBuilder::expertLinear(Value rows, Value gates,
                                 const std::string &name, bool widens) {
  int64_t x = config.experts->count, h = config.hidden, f = config.inner;
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

/// Returns the sum over a token's experts of gate * w2(silu(w1 x) * w3 x).
Value LlamaBuilder::mixture(Value x, const std::string &layer) {
  enter(layer + "post_attention_layernorm", locations.layers);
  Value a = norm("model." + layer + "post_attention_layernorm", x);
  enter(layer + "block_sparse_moe", locations.layers);
  std::string name = "model." + layer + "block_sparse_moe.";
  Value gates = route(a, name);
  Value rows = tagged(nn::create<nn::DispatchOp>(b, loc, a, gates, UnitAttr()),
                      nn::Tag::Dispatch);
  auto part = [&](Value in, StringRef which, bool widens) {
    return expertLinear(in, gates, name + "experts.*." + which.str(), widens);
  };
  Value gate = map(nn::Function::Silu, part(rows, "w1", true));
  Value inner = einsum("xbsf,xbsf->xbsf", {gate, part(rows, "w3", true)});
  Value y = tagged(nn::create<nn::CollectOp>(b, loc, part(inner, "w2", false),
                                             gates, b.getUnitAttr()),
                   nn::Tag::Collect);
  return stream(add("bsh,bsh->bsh", {x, y}));
}

//===----------------------------------------------------------------------===//
// Load balance
//===----------------------------------------------------------------------===//

/// Adds a layer's sums over tokens, without padding: how many an expert gets,
/// and how probable it is for them in the softmax over all experts.
void LlamaBuilder::noteBalance(Value logits, Value gates) {
  Value top = nn::create<nn::MaxOp>(b, loc, logits);
  Value e = map(nn::Function::Exp, add("bsx,bs->bsx", {logits, top}, {1, -1}));
  Value perToken = map(nn::Function::Reciprocal, einsum("bsx->bs", e));
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
Value LlamaBuilder::perTokens(Value product) {
  if (!documents)
    return product;
  Value count = einsum("bs->", counted(documents));
  Value one = nn::create<nn::ConstantOp>(b, loc, b.getF64FloatAttr(1.0),
                                         TypeAttr::get(sizes.elementType));
  Value none = map(nn::Function::Relu, add(",->", {one, count}, {1, -1}));
  Value share = map(nn::Function::Reciprocal, add(",->", {count, none}));
  return einsum(",->", {einsum(",->", {product, share}), share});
}

/// Plus balance * experts * sum over experts of (share of tokens * mean
/// probability), means over the tokens of all layers of a micro-batch (Fedus
/// et al. 2022, section 2.2), itself a mean over micro-batches.
Value LlamaBuilder::withBalance(Value loss) {
  if (!routedTokens)
    return loss;
  enter("balance", locations.layers);
  const Experts &experts = *config.experts;
  // Padding is not counted here, but by `perTokens`.
  double tokens = static_cast<double>(config.layers);
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
