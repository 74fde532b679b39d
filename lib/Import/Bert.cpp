//===- Bert.cpp - builds the serial program of a BERT ---------------------===//
// Devlin et al. 2018, as Hugging Face's BertForMaskedLM computes it.
// Letters: b batch, s sequence, h hidden, j hidden of the head, n
// heads, d head size, f feed-forward, v vocabulary, p positions, k token types.
//===----------------------------------------------------------------------===//

#include "lib/Import/BertConfig.h"
#include "lib/Import/Family.h"
#include <cmath>

using namespace mlir;
using namespace tessera;

namespace {

class BertBuilder : ProgramBuilder {
public:
  BertBuilder(const BertConfig &config, const ProgramSizes &sizes,
              const ModelLocations &locations)
      : ProgramBuilder(sizes, locations), config(config) {
    initialDeviation = config.initializerRange;
  }

  OwningOpRef<ModuleOp> build();

private:
  Value linear(Value x, Projection p) {
    p.hasBias = true;
    return project(x, p);
  }
  Value table(StringRef name, StringRef dims, int64_t rows,
              std::optional<int64_t> padding = std::nullopt);
  Value embed();
  Value residual(const std::string &name, Value x, Value y);
  Value attention(Value x, const std::string &layer);
  Value mlp(Value x, const std::string &layer);
  Value logits(Value x);

  BertConfig config;
  Value words, ids, tokenTypes, labels;
  Value tokens; ///< The segments of tokens, and of padding.
};

Value BertBuilder::table(StringRef name, StringRef dims, int64_t rows,
                         std::optional<int64_t> padding) {
  return parameter({("bert.embeddings." + name + "_embeddings.weight").str(),
                    dims,
                    {rows, config.hidden},
                    {},
                    normalRows(config.initializerRange, padding, config.hidden),
                    true});
}

Value BertBuilder::embed() {
  words = table("word", "vh", config.vocabulary, config.padding);
  Value positions = table("position", "ph", config.positions);
  Value types = table("token_type", "kh", config.tokenTypes);
  Value x = lookup(ids, words, config.padding);
  Value type = lookup(tokenTypes, types);
  // Right before its use, where ZeRO gathers the table.
  if (sizes.sequence < config.positions)
    positions = nn::create<nn::PrefixOp>(b, loc, positions,
                                         b.getI64IntegerAttr(sizes.sequence));
  x = stream(add("bsh,bsh,sh->bsh", {x, type, positions}));
  x = stream(layerNorm("bert.embeddings.LayerNorm", x, config.epsilon));
  return dropout(x, config.hiddenDropout);
}

/// Builds LayerNorm(x + dropout(y)): the result of a block is normalized.
Value BertBuilder::residual(const std::string &name, Value x, Value y) {
  y = dropout(y, config.hiddenDropout);
  y = stream(add("bsh,bsh->bsh", {x, y}));
  return stream(layerNorm(name + "LayerNorm", y, config.epsilon));
}

Value BertBuilder::attention(Value x, const std::string &layer) {
  int64_t h = config.hidden, n = config.heads, d = config.headSize();
  std::string name = "bert." + layer + "attention.";
  enter(layer + "attention", locations.layers);
  Value a = branch(x);
  auto heads = [&](StringRef part) {
    return linear(
        a, {name + "self." + part.str(), "bsh,ndh->bsnd", {n, d, h}, {h, h}});
  };
  Value q = heads("query"), k = heads("key"), v = heads("value");
  Attention attention{q,
                      k,
                      v,
                      1 / std::sqrt(static_cast<double>(d)),
                      /*causal=*/false,
                      config.attentionDropout};
  attention.querySegments = attention.keySegments = tokens;
  Value o = ProgramBuilder::attention(attention);
  Value y =
      linear(o, {name + "output.dense", "bsnd,hnd->bsh", {h, n, d}, {h, h}});
  return residual(name + "output.", x, y);
}

Value BertBuilder::mlp(Value x, const std::string &layer) {
  int64_t h = config.hidden, f = config.inner;
  std::string name = "bert." + layer;
  enter(layer + "mlp", locations.layers);
  Value y =
      linear(x, {name + "intermediate.dense", "bsh,fh->bsf", {f, h}, {f, h}});
  y = map(config.activation, y);
  y = linear(y, {name + "output.dense", "bsf,hf->bsh", {h, f}, {h, f}});
  return residual(name + "output.", x, y);
}

Value BertBuilder::logits(Value x) {
  int64_t h = config.hidden, v = config.vocabulary;
  enter(program::kHeadPart, locations.embedding);
  x = linear(
      x, {"cls.predictions.transform.dense", "bsh,jh->bsj", {h, h}, {h, h}});
  x = map(config.activation, x);
  x = layerNorm("cls.predictions.transform.LayerNorm", x, config.epsilon);
  Value w = words;
  if (!config.tied)
    w = parameter({"cls.predictions.decoder.weight",
                   "vh",
                   {v, h},
                   {},
                   normal(config.initializerRange),
                   true});
  // Files hold the bias beside the weight, unless that is the embedding.
  Value c = parameter(
      {config.tied ? "cls.predictions.bias" : "cls.predictions.decoder.bias",
       "v",
       {v},
       {},
       constant("zeros")});
  return add("bsv,v->bsv", {einsum("bsh,vh->bsv", {x, w}), c});
}

OwningOpRef<ModuleOp> BertBuilder::build() {
  sizes.ignoresLabels = false; // It has no other loss.
  begin({"bert", config.layers, config.vocabulary, config.maskToken,
         config.tokenTypes});
  enter("embedding", locations.embedding);
  ids = data("ids");
  tokenTypes = data("token_types");
  labels = data("labels");
  tokens = segments("segments");
  Value x = embed();
  for (int64_t layer = 0; layer < config.layers; ++layer) {
    std::string prefix = "encoder.layer." + std::to_string(layer) + ".";
    x = mlp(attention(x, prefix), prefix);
  }
  Value scores = logits(x);
  enter(program::kLossPart, locations.embedding);
  return finish(meanOverCounted(crossEntropy(scores, labels), labels));
}

void shrink(BertConfig &config, const ShrinkOptions &options) {
  config.layers = std::min(config.layers, options.layers);
  int64_t headSize = shrunkHeadSize(config.headSize(), options);
  config.heads = shrunkHeads(config.heads, options);
  shrinkSizes(config, config.heads * headSize, options);
  for (std::optional<int64_t> *token : {&config.maskToken, &config.padding})
    if (*token)
      *token = std::min(**token, config.vocabulary - 1);
}

} // namespace

Imported tessera::importBert(const ConfigFile &file,
                             const ImportOptions &options) {
  FailureOr<BertConfig> config = readBert(file, options.forEncoding);
  if (failed(config))
    return failure();
  if (options.shrink)
    shrink(*config, *options.shrink);
  FailureOr<ProgramSizes> sizes = chooseSizes(
      file, {"max_position_embeddings", config->positions}, options);
  if (failed(sizes))
    return failure();
  return BertBuilder(*config, *sizes,
                     {file.at("model_type"), file.at("vocab_size"),
                      file.at("num_hidden_layers")})
      .build();
}
