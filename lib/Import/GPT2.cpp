//===- GPT2.cpp - builds the serial program of a GPT-2 --------------------===//
// Radford et al. 2019, as Hugging Face's GPT2LMHeadModel computes it. Letters:
// b batch, s sequence, h hidden, c one of query, key, value, n heads, d head
// size, f feed-forward, v vocabulary, p positions.
//===----------------------------------------------------------------------===//

#include "lib/Import/GPT2.h"
#include "lib/Import/Family.h"
#include <cmath>

using namespace mlir;
using namespace tessera;

namespace {

class GPT2Builder : ProgramBuilder {
public:
  GPT2Builder(const GPT2Config &config, const ProgramSizes &sizes,
              const ModelLocations &locations)
      : ProgramBuilder(sizes, locations), config(config) {}

  OwningOpRef<ModuleOp> build();

private:
  Value norm(const std::string &name, Value x) {
    return layerNorm("transformer." + name, x, config.epsilon);
  }
  Value embed(Value ids);
  Value attention(Value x, int64_t layer, const std::string &prefix);
  Value heads(Value qkv, int64_t layer);
  Value mlp(Value x, const std::string &prefix);
  Value logits(Value x);

  GPT2Config config;
  Value table, documents;
};

Value GPT2Builder::embed(Value ids) {
  enter("embedding", locations.embedding);
  int64_t h = config.hidden;
  Value positions = parameter({"transformer.wpe.weight",
                               "ph",
                               {config.positions, h},
                               {},
                               normal(config.initializerRange),
                               true});
  Value x = lookup(ids, table);
  // Right before its use, where ZeRO gathers the table.
  if (sizes.sequence < config.positions)
    positions = nn::create<nn::PrefixOp>(b, loc, positions,
                                         b.getI64IntegerAttr(sizes.sequence));
  return dropout(stream(add("bsh,sh->bsh", {x, positions})),
                 config.embeddingDropout);
}

Value GPT2Builder::heads(Value qkv, int64_t layer) {
  double scale = config.scaleAttention ? 1.0 / std::sqrt(config.headSize()) : 1;
  if (config.scaleByLayer)
    scale /= layer + 1;
  auto parts = nn::createWithResults<nn::UnstackOp>(b, loc, 3, qkv,
                                                    b.getI64IntegerAttr(2));
  Attention attention{parts.getResult(0), parts.getResult(1),
                      parts.getResult(2), scale,
                      /*causal=*/true,    config.attentionDropout};
  attention.querySegments = attention.keySegments = documents;
  return ProgramBuilder::attention(attention);
}

Value GPT2Builder::attention(Value x, int64_t layer,
                             const std::string &prefix) {
  int64_t h = config.hidden, n = config.heads, d = config.headSize();
  double std = config.initializerRange;
  std::string attn = "transformer." + prefix + "attn.";
  enter(prefix + "ln_1", locations.layers);
  Value a = norm(prefix + "ln_1", x);
  enter(prefix + "attn", locations.layers);
  Value w = parameter({attn + "c_attn.weight",
                       "hcnd",
                       {h, 3, n, d},
                       {h, 3 * h},
                       normal(std),
                       true});
  Value c = parameter(
      {attn + "c_attn.bias", "cnd", {3, n, d}, {3 * h}, constant("zeros")});
  Value qkv = add("bscnd,cnd->bscnd", {einsum("bsh,hcnd->bscnd", {a, w}), c});
  Value o = heads(qkv, layer);
  w = parameter({attn + "c_proj.weight",
                 "ndh",
                 {n, d, h},
                 {h, h},
                 normal(std / std::sqrt(2.0 * config.layers)),
                 true});
  c = parameter({attn + "c_proj.bias", "h", {h}, {}, constant("zeros")});
  Value y = add("bsh,h->bsh", {einsum("bsnd,ndh->bsh", {o, w}), c});
  y = dropout(y, config.residualDropout);
  return stream(add("bsh,bsh->bsh", {x, y}));
}

Value GPT2Builder::mlp(Value x, const std::string &prefix) {
  int64_t h = config.hidden, f = config.inner;
  double std = config.initializerRange;
  std::string name = "transformer." + prefix + "mlp.";
  enter(prefix + "ln_2", locations.layers);
  Value a = norm(prefix + "ln_2", x);
  enter(prefix + "mlp", locations.layers);
  Value w =
      parameter({name + "c_fc.weight", "hf", {h, f}, {}, normal(std), true});
  Value c = parameter({name + "c_fc.bias", "f", {f}, {}, constant("zeros")});
  Value y = add("bsf,f->bsf", {einsum("bsh,hf->bsf", {a, w}), c});
  y = map(config.activation, y);
  w = parameter({name + "c_proj.weight",
                 "fh",
                 {f, h},
                 {},
                 normal(std / std::sqrt(2.0 * config.layers)),
                 true});
  c = parameter({name + "c_proj.bias", "h", {h}, {}, constant("zeros")});
  y = add("bsh,h->bsh", {einsum("bsf,fh->bsh", {y, w}), c});
  y = dropout(y, config.residualDropout);
  return stream(add("bsh,bsh->bsh", {x, y}));
}

Value GPT2Builder::logits(Value x) {
  enter("ln_f", locations.layers);
  x = norm("ln_f", x);
  enter(program::kHeadPart, locations.embedding);
  return outputLogits(x, table, config.tied, config.initializerRange);
}

OwningOpRef<ModuleOp> GPT2Builder::build() {
  begin({"gpt2", config.layers, config.vocabulary});
  enter("embedding", locations.embedding);
  table = parameter({"transformer.wte.weight",
                     "vh",
                     {config.vocabulary, config.hidden},
                     {},
                     normal(config.initializerRange),
                     true});
  Value ids = data("ids"), labels = data("labels");
  documents = segments("segments");
  Value x = embed(ids);
  for (int64_t layer = 0; layer < config.layers; ++layer) {
    std::string prefix = "h." + std::to_string(layer) + ".";
    x = mlp(attention(x, layer, prefix), prefix);
  }
  Value scores = logits(x);
  enter(program::kLossPart, locations.embedding);
  return finish(causalMean(crossEntropy(scores, labels), labels));
}

} // namespace

static void shrink(GPT2Config &config, const ShrinkOptions &options) {
  config.layers = std::min(config.layers, options.layers);
  int64_t headSize = shrunkHeadSize(config.headSize(), options);
  config.heads = shrunkHeads(config.heads, options);
  shrinkSizes(config, config.heads * headSize, options);
}

Imported tessera::importGPT2(const ConfigFile &file,
                             const ImportOptions &options) {
  FailureOr<GPT2Config> config = readGPT2(file);
  if (failed(config))
    return failure();
  if (options.shrink)
    shrink(*config, *options.shrink);
  FailureOr<ProgramSizes> sizes =
      chooseSizes(file, {"n_positions", config->positions}, options);
  if (failed(sizes))
    return failure();
  return GPT2Builder(
             *config, *sizes,
             {file.at("model_type"), file.at("vocab_size"), file.at("n_layer")})
      .build();
}
