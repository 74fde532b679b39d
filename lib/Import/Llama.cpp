//===- Llama.cpp - builds the serial program of a LLaMA -------------------===//
// Touvron et al. 2023, as Hugging Face's LlamaForCausalLM computes it; Mistral
// and Qwen2 differ in constants and biases, Mixtral in its experts
// (Mixtral.cpp). Letters: b batch, s sequence, h
// hidden, g key heads, r query heads of each, d head size, e pairs of a head,
// f feed-forward, v vocabulary.
//===----------------------------------------------------------------------===//

#include "lib/Import/Family.h"
#include "lib/Import/LlamaBuilder.h"
#include <cmath>

using namespace mlir;
using namespace tessera;

/// Element [p, e] is scale * cos(p * frequencies[e]), or sin.
DictionaryAttr LlamaBuilder::waves(StringRef kind) {
  std::vector<double> frequencies = config.rope.frequencies(config.headSize);
  return b.getDictionaryAttr(
      {b.getNamedAttr("kind", b.getStringAttr(kind)),
       b.getNamedAttr("scale", b.getF64FloatAttr(config.rope.scale())),
       b.getNamedAttr("frequencies", b.getF64ArrayAttr(frequencies))});
}

Value LlamaBuilder::norm(const std::string &name, Value x) {
  Value w =
      parameter({name + ".weight", "h", {config.hidden}, {}, constant("ones")});
  return nn::create<nn::RMSNormOp>(b, loc, x, w,
                                   b.getF64FloatAttr(config.epsilon));
}

Value LlamaBuilder::rotated(Value x) {
  return nn::create<nn::RopeOp>(b, loc, x, cosines, sines, UnitAttr());
}

static std::string layerName(int64_t number) {
  return "layers." + std::to_string(number) + ".";
}

Value LlamaBuilder::attention(Value x, int64_t number) {
  int64_t h = config.hidden, d = config.headSize, g = config.keyHeads;
  int64_t r = config.queriesPerKey(), n = config.heads;
  std::string layer = layerName(number);
  std::string name = "model." + layer + "self_attn.";
  enter(layer + "input_layernorm", locations.layers);
  Value a = norm("model." + layer + "input_layernorm", x);
  enter(layer + "self_attn", locations.layers);
  Value q = project(a, {name + "q_proj",
                        "bsh,grdh->bsgrd",
                        {g, r, d, h},
                        {n * d, h},
                        config.queryBias});
  Value k = project(a, {name + "k_proj",
                        "bsh,gdh->bsgd",
                        {g, d, h},
                        {g * d, h},
                        config.queryBias});
  Value v = project(a, {name + "v_proj",
                        "bsh,gdh->bsgd",
                        {g, d, h},
                        {g * d, h},
                        config.queryBias});
  Attention heads{rotated(q),
                  rotated(k),
                  v,
                  1 / std::sqrt(static_cast<double>(d)),
                  /*causal=*/true,
                  config.attentionDropout};
  if (config.windows[number] < sizes.sequence)
    heads.window = config.windows[number];
  heads.querySegments = heads.keySegments = documents;
  Value o = ProgramBuilder::attention(heads);
  Value y = project(o, {name + "o_proj",
                        "bsgrd,hgrd->bsh",
                        {h, g, r, d},
                        {h, n * d},
                        config.outputBias});
  return stream(add("bsh,bsh->bsh", {x, y}));
}

/// Builds down(silu(gate x) * up x) (Shazeer 2020).
Value LlamaBuilder::mlp(Value x, const std::string &layer) {
  if (config.experts)
    return mixture(x, layer);
  int64_t h = config.hidden, f = config.inner;
  std::string name = "model." + layer + "mlp.";
  enter(layer + "post_attention_layernorm", locations.layers);
  Value a = norm("model." + layer + "post_attention_layernorm", x);
  enter(layer + "mlp", locations.layers);
  auto widen = [&](StringRef part) {
    return project(
        a, {name + part.str(), "bsh,fh->bsf", {f, h}, {f, h}, config.mlpBias});
  };
  Value gate = map(nn::Function::Silu, widen("gate_proj"));
  Value y = einsum("bsf,bsf->bsf", {gate, widen("up_proj")});
  y = project(
      y, {name + "down_proj", "bsf,hf->bsh", {h, f}, {h, f}, config.mlpBias});
  return stream(add("bsh,bsh->bsh", {x, y}));
}

Value LlamaBuilder::logits(Value x) {
  enter("norm", locations.layers);
  x = norm("model.norm", x);
  enter(program::kHeadPart, locations.embedding);
  return outputLogits(x, embeddings, config.tied, config.initializerRange);
}

OwningOpRef<ModuleOp> LlamaBuilder::build() {
  begin({config.family, config.layers, config.vocabulary});
  enter("embedding", locations.embedding);
  embeddings = parameter(
      {"model.embed_tokens.weight",
       "vh",
       {config.vocabulary, config.hidden},
       {},
       normalRows(config.initializerRange, config.padding, config.hidden),
       true});
  SmallVector<int64_t> angles = {sizes.sequence, config.headSize / 2};
  cosines = table("rope.cosines", "se", angles, waves("cosines"));
  sines = table("rope.sines", "se", angles, waves("sines"));
  Value ids = data("ids"), labels = data("labels");
  documents = segments("segments");
  // The lookup itself is partial where the vocabulary is split.
  Value x = lookup(ids, embeddings, config.padding);
  x = stream(branch(x));
  for (int64_t layer = 0; layer < config.layers; ++layer) {
    x = attention(x, layer);
    x = mlp(x, layerName(layer));
  }
  Value scores = logits(x);
  enter(program::kLossPart, locations.embedding);
  return finish(withBalance(causalMean(crossEntropy(scores, labels), labels)));
}

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
static void shrinkLayers(LlamaConfig &config, int64_t layers) {
  int64_t last = config.layers - 1;
  std::vector<int64_t> windows;
  config.layers = std::min(config.layers, layers);
  for (int64_t i = 0; i < config.layers; ++i)
    windows.push_back(
        config.windows[i * last / std::max<int64_t>(1, config.layers - 1)]);
  config.windows = windows;
}

/// Experts stay; frequencies are those of the smaller heads.
static void shrink(LlamaConfig &config, const ShrinkOptions &options) {
  shrinkLayers(config, options.layers);
  config.headSize = shrunkHeadSize(config.headSize, options);
  int64_t queryHeads = shrunkHeads(config.heads / config.keyHeads, options);
  config.keyHeads = shrunkHeads(config.keyHeads, options);
  config.heads = config.keyHeads * queryHeads;
  shrinkSizes(config, config.heads * config.headSize, options);
  if (config.padding)
    config.padding = std::min(*config.padding, config.vocabulary - 1);
}

Imported tessera::importLlama(const ConfigFile &file,
                              const ImportOptions &options) {
  FailureOr<LlamaConfig> config = readLlama(file);
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
    for (int64_t &window : config->windows)
      window = shrunkWindow(window, whole, sizes->sequence);
  return LlamaBuilder(*config, *sizes,
                      {file.at("model_type"), file.at("vocab_size"),
                       file.at("num_hidden_layers")})
      .build();
}
