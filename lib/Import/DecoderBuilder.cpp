//===- DecoderBuilder.cpp - builds the serial program of a decoder --------===//
// Touvron et al. 2023, as Hugging Face's LlamaForCausalLM computes it, with the
// parts in which its relatives differ (DecoderModel.h); experts are in
// Mixture.cpp. Letters: b batch, s sequence, h hidden, g key heads, r query
// heads of each, d head size, e pairs of a head, f feed-forward, v vocabulary.
//===----------------------------------------------------------------------===//

#include "lib/Import/DecoderBuilder.h"
#include "lib/Import/Family.h"
#include <cmath>

using namespace mlir;
using namespace tessera;

static std::string layerName(int64_t number) {
  return "layers." + std::to_string(number) + ".";
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

Value DecoderBuilder::norm(const std::string &name, Value x, StringRef dims) {
  int64_t size = cast<RankedTensorType>(x.getType()).getShape().back();
  const bool plusOne = config.family->normsHoldLessOne;
  Value w = parameter({name + ".weight",
                       dims,
                       {size},
                       {},
                       constant(plusOne ? "zeros" : "ones")});
  if (plusOne)
    w = add((dims + ",->" + dims).str(), {w, number(1)});
  return nn::create<nn::RMSNormOp>(b, loc, x, w,
                                   b.getF64FloatAttr(config.epsilon));
}

Value DecoderBuilder::normBefore(Value x, const std::string &layer,
                                 StringRef name) {
  if (name.empty())
    return branch(x);
  enter(layer + name, locations.layers);
  return norm("model." + layer + name.str(), x);
}

Value DecoderBuilder::normBehind(Value y, const std::string &layer,
                                 StringRef name) {
  if (name.empty())
    return y;
  enter(layer + name, locations.layers);
  return norm("model." + layer + name.str(), y);
}

Value DecoderBuilder::residual(Value x, Value y) {
  if (config.family->has("residual_dropout"))
    y = dropout(y, config.residualDropout);
  if (config.residualScale == 1)
    return stream(add("bsh,bsh->bsh", {x, y}));
  return stream(add("bsh,bsh->bsh", {x, y}, {1, config.residualScale}));
}

/// Builds x / sqrt(mean(x^2) + epsilon) * weight with a mean over all heads,
/// whose squares are a sum over ranks where these are split.
Value DecoderBuilder::normAllHeads(const std::string &name, Value x,
                                   StringRef dims) {
  auto shape = cast<RankedTensorType>(x.getType()).getShape().drop_front(2);
  int64_t size = llvm::product_of(shape);
  Value w = parameter({name + ".weight",
                       dims,
                       llvm::to_vector(shape),
                       {size},
                       constant("ones")});
  const std::string heads = ("bs" + dims).str();
  Value wide = widened(x);
  Value squares = einsum(heads + "," + heads + "->bs", {wide, wide},
                         1 / static_cast<double>(size));
  Value root = map(nn::Function::Sqrt,
                   add("bs,->bs", {squares, number(config.epsilon)}));
  Value y = einsum(heads + ",bs->" + heads,
                   {wide, map(nn::Function::Reciprocal, root)});
  return einsum(heads + "," + dims.str() + "->" + heads, {y, w});
}

Value DecoderBuilder::headNorm(const std::string &name, Value x,
                               StringRef dims) {
  switch (config.family->headNorm) {
  case HeadNorm::None:
    return x;
  case HeadNorm::EachHead:
    return norm(name, x, "d");
  case HeadNorm::AllHeads:
    return normAllHeads(name, x, dims);
  }
  llvm_unreachable("all are named");
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// Element [p, e] is scale * cos(p * frequencies[e]), or sin.
DictionaryAttr DecoderBuilder::waves(const RopeConfig &rotation,
                                     StringRef kind) {
  std::vector<double> frequencies = rotation.frequencies(config.headSize);
  return b.getDictionaryAttr(
      {b.getNamedAttr("kind", b.getStringAttr(kind)),
       b.getNamedAttr("scale", b.getF64FloatAttr(rotation.scale())),
       b.getNamedAttr("frequencies", b.getF64ArrayAttr(frequencies))});
}

/// Makes the tables of the rotations that layers have.
void DecoderBuilder::makeRotations() {
  SmallVector<int64_t> shape = {sizes.sequence, config.headSize / 2};
  rotations.resize(config.rotations.size());
  for (auto [i, rotation] : llvm::enumerate(config.rotations)) {
    auto has = [&, i = i](const DecoderLayer &layer) {
      return layer.rotation == i;
    };
    if (llvm::none_of(config.layers, has))
      continue;
    std::string prefix = i == 0 ? "rope." : "rope.local.";
    rotations[i] = {
        table(prefix + "cosines", "se", shape, waves(rotation, "cosines")),
        table(prefix + "sines", "se", shape, waves(rotation, "sines"))};
  }
}

Value DecoderBuilder::rotated(Value x, const DecoderLayer &layer) {
  if (!layer.rotation)
    return x;
  const Waves &table = rotations[*layer.rotation];
  return nn::create<nn::RopeOp>(b, loc, x, table.cosines, table.sines,
                                UnitAttr());
}

/// Files hold the query heads of all key heads one after another.
Value DecoderBuilder::projectHeads(Value x, const std::string &name,
                                   bool isQuery) {
  int64_t h = config.hidden, d = config.headSize, g = config.keyHeads;
  int64_t r = config.queriesPerKey();
  if (isQuery)
    return project(x, {name,
                       "bsh,grdh->bsgrd",
                       {g, r, d, h},
                       {g * r * d, h},
                       config.queryBias});
  return project(
      x, {name, "bsh,gdh->bsgd", {g, d, h}, {g * d, h}, config.queryBias});
}

Value DecoderBuilder::attention(Value x, int64_t number) {
  int64_t h = config.hidden, d = config.headSize, g = config.keyHeads;
  int64_t r = config.queriesPerKey();
  const DecoderLayer &own = config.layers[number];
  const LayerNames &names = config.family->names;
  std::string layer = layerName(number);
  std::string name = "model." + layer + "self_attn.";
  Value a = normBefore(x, layer, names.inputNorm);
  enter(layer + "self_attn", locations.layers);
  Value q = projectHeads(a, name + "q_proj", /*isQuery=*/true);
  Value k = projectHeads(a, name + "k_proj", /*isQuery=*/false);
  Value v = projectHeads(a, name + "v_proj", /*isQuery=*/false);
  q = headNorm(name + "q_norm", q, "grd");
  k = headNorm(name + "k_norm", k, "gd");
  Attention heads{rotated(q, own),
                  rotated(k, own),
                  v,
                  config.attentionScale != 0
                      ? config.attentionScale
                      : 1 / std::sqrt(static_cast<double>(d)),
                  /*causal=*/true,
                  config.attentionDropout};
  if (own.window < sizes.sequence)
    heads.window = own.window;
  heads.querySegments = heads.keySegments = documents;
  Value o = ProgramBuilder::attention(heads);
  Value y = project(o, {name + "o_proj",
                        "bsgrd,hgrd->bsh",
                        {h, g, r, d},
                        {h, g * r * d},
                        config.outputBias});
  return residual(x, normBehind(y, layer, names.attentionNorm));
}

//===----------------------------------------------------------------------===//
// The other parts
//===----------------------------------------------------------------------===//

/// Builds down(f(gate x) * up x) (Shazeer 2020).
Value DecoderBuilder::gated(Value x, const std::string &name, int64_t inner) {
  int64_t h = config.hidden, f = inner;
  auto widen = [&](StringRef part) {
    return project(
        x, {name + part.str(), "bsh,fh->bsf", {f, h}, {f, h}, config.mlpBias});
  };
  Value gate = map(config.activation, widen("gate_proj"));
  Value y = einsum("bsf,bsf->bsf", {gate, widen("up_proj")});
  return project(
      y, {name + "down_proj", "bsf,hf->bsh", {h, f}, {h, f}, config.mlpBias});
}

Value DecoderBuilder::mlp(Value x, int64_t number) {
  const LayerNames &names = config.family->names;
  std::string layer = layerName(number);
  const std::string part =
      config.layers[number].isMixture ? names.mixture.str() : "mlp";
  Value a = normBefore(x, layer, names.mlpNorm);
  enter(layer + part, locations.layers);
  std::string name = "model." + layer + part + ".";
  Value y = config.layers[number].isMixture ? mixture(a, name)
                                            : gated(a, name, config.inner);
  return residual(x, normBehind(y, layer, names.outputNorm));
}

Value DecoderBuilder::logits(Value x) {
  enter("norm", locations.layers);
  x = norm("model.norm", x);
  enter(program::kHeadPart, locations.embedding);
  const double cap = config.logitCap;
  const double scale = cap == 0 ? config.logitScale : config.logitScale / cap;
  // The head reads fewer elements than it makes.
  if (scale != 1)
    x = einsum("bsh->bsh", x, scale);
  Value y = outputLogits(x, embeddings, config.tied, config.initializerRange);
  return cap == 0 ? y : einsum("bsv->bsv", map(nn::Function::Tanh, y), cap);
}

OwningOpRef<ModuleOp> DecoderBuilder::build() {
  begin({config.family->type, static_cast<int64_t>(config.layers.size()),
         config.vocabulary});
  enter("embedding", locations.embedding);
  embeddings = parameter(
      {"model.embed_tokens.weight",
       "vh",
       {config.vocabulary, config.hidden},
       {},
       normalRows(config.initializerRange, config.padding, config.hidden),
       true});
  makeRotations();
  Value ids = data("ids"), labels = data("labels");
  documents = segments("segments");
  // The lookup itself is partial where the vocabulary is split.
  Value x = lookup(ids, embeddings, config.padding);
  x = stream(config.embeddingScale == 1
                 ? branch(x)
                 : add("bsh->bsh", x, {config.embeddingScale}));
  for (size_t layer = 0; layer < config.layers.size(); ++layer)
    x = mlp(attention(x, layer), layer);
  Value scores = logits(x);
  enter(program::kLossPart, locations.embedding);
  return finish(withBalance(causalMean(crossEntropy(scores, labels), labels)));
}

//===----------------------------------------------------------------------===//
// Import
//===----------------------------------------------------------------------===//

/// Shrinks a window to as large a part of the small sequence as it is of the
/// whole one, so that it still hides keys. A window of one key would leave
/// nothing to choose from.
static int64_t shrunkWindow(int64_t window, int64_t whole, int64_t sequence) {
  constexpr int64_t least = 2;
  if (window == 0 || window >= whole)
    return 0;
  double part = static_cast<double>(window) / static_cast<double>(whole);
  return std::max(least, static_cast<int64_t>(part * sequence));
}

/// The first layer, the last and some between: a few may be the only ones that
/// have a window, or have none.
static void shrinkLayers(Decoder &config, int64_t layers) {
  std::vector<DecoderLayer> kept;
  const size_t last = config.layers.size() - 1;
  const size_t count = std::min<size_t>(config.layers.size(), layers);
  for (size_t i = 0; i < count; ++i)
    kept.push_back(config.layers[i * last / std::max<size_t>(1, count - 1)]);
  config.layers = kept;
}

/// Experts stay; frequencies are those of the smaller heads.
static void shrink(Decoder &config, const ShrinkOptions &options) {
  shrinkLayers(config, options.layers);
  config.headSize = shrunkHeadSize(config.headSize, options);
  int64_t queryHeads = shrunkHeads(config.heads / config.keyHeads, options);
  config.keyHeads = shrunkHeads(config.keyHeads, options);
  config.heads = config.keyHeads * queryHeads;
  shrinkSizes(config, config.heads * config.headSize, options);
  if (config.experts) {
    int64_t ranks = options.tensorRanks * options.dataRanks;
    Experts &experts = *config.experts;
    experts.inner = shrunkSize(experts.inner, config.inner, ranks);
    experts.sharedInner = shrunkSize(experts.sharedInner, config.inner, ranks);
  }
  if (config.padding)
    config.padding = std::min(*config.padding, config.vocabulary - 1);
}

Imported tessera::importDecoder(const ConfigFile &file,
                                const DecoderFamily &family,
                                const ImportOptions &options) {
  FailureOr<Decoder> config = readDecoder(file, family);
  if (failed(config))
    return failure();
  int64_t whole = std::min(config->positions, kLongestDefault);
  if (options.shrink && options.shrink->sequence)
    whole = options.shrink->sequence;
  if (options.shrink)
    shrink(*config, *options.shrink);
  FailureOr<ProgramSizes> sizes = chooseSizes(
      file, {"max_position_embeddings", config->positions}, options);
  if (failed(sizes))
    return failure();
  if (options.shrink)
    for (DecoderLayer &layer : config->layers)
      layer.window = shrunkWindow(layer.window, whole, sizes->sequence);
  return DecoderBuilder(*config, *sizes,
                        {file.at("model_type"), file.at("vocab_size"),
                         file.at("num_hidden_layers")})
      .build();
}
