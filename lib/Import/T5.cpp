//===- T5.cpp - builds the serial program of a T5 -------------------------===//
// Raffel et al. 2020 and its version 1.1, as Hugging Face's
// T5ForConditionalGeneration computes them without padding masks. Letters: b
// batch, s sequence, h hidden, n heads, d head size, f feed-forward, v
// vocabulary, e buckets of distances.
//===----------------------------------------------------------------------===//

#include "lib/Import/ConfigKeys.h"
#include "lib/Import/Family.h"
#include "lib/Import/T5Config.h"
#include "tessera/Dialect/NN/Marks.h"
#include <cmath>

using namespace mlir;
using namespace tessera;

namespace {

class T5Builder : ProgramBuilder {
public:
  T5Builder(const T5Config &config, const ProgramSizes &sizes, int64_t target,
            const ModelLocations &locations)
      : ProgramBuilder(sizes, locations), config(config), target(target) {}

  OwningOpRef<ModuleOp> build();

private:
  /// A stack of blocks, its biases and, for a decoder, the memory that it
  /// attends to.
  struct Stack {
    std::string name;
    int64_t layers;
    bool causal;
    Value memory;    ///< The encoder's output; none in the encoder.
    Value biasTable; ///< The first layer's, for all layers.
    Value tokens = {}, memoryTokens = {}; ///< Segments of what is no padding.
  };

  double deviation(int64_t inputs) const {
    return config.initializerFactor / std::sqrt(static_cast<double>(inputs));
  }
  Value norm(const std::string &name, Value x);
  Value linear(Value x, double std, const Projection &projection);
  Value residual(Value x, Value y);
  Value heads(Value x, double std, const std::string &name);
  void biases(Stack &stack, const std::string &name);
  Value attention(Value x, const std::string &layer, StringRef kind,
                  Stack &stack);
  Value widen(Value x, const std::string &name);
  Value feedForward(Value x, const std::string &layer);
  Value embed(Value ids);
  Value run(Value x, Stack stack);
  Value logits(Value x);

  T5Config config;
  int64_t target;
  Value embeddings;
};

Value T5Builder::norm(const std::string &name, Value x) {
  // Not `constant`: a factor is the mean of deviates that are all the same.
  NamedAttrList init(normal(0));
  init.set("mean", b.getF64FloatAttr(config.initializerFactor));
  DictionaryAttr start = config.initializerFactor == 1
                             ? constant("ones")
                             : init.getDictionary(b.getContext());
  Value w = parameter({name + ".weight", "h", {config.hidden}, {}, start});
  return nn::create<nn::RMSNormOp>(b, loc, x, w,
                                   b.getF64FloatAttr(config.epsilon));
}

Value T5Builder::linear(Value x, double std, const Projection &projection) {
  initialDeviation = std;
  return project(x, projection);
}

Value T5Builder::residual(Value x, Value y) {
  return stream(add("bsh,bsh->bsh", {x, dropout(y, config.dropout)}));
}

Value T5Builder::heads(Value x, double std, const std::string &name) {
  int64_t h = config.hidden, n = config.heads, d = config.headSize;
  return linear(x, std,
                {name, "bsh,ndh->bsnd", {n, d, h}, {config.headsSize(), h}});
}

void T5Builder::biases(Stack &stack, const std::string &name) {
  stack.biasTable = parameter({name + ".relative_attention_bias.weight",
                               "en",
                               {config.buckets, config.heads},
                               {},
                               normal(deviation(config.hidden)),
                               true});
}

/// Attention is not scaled: the queries' initial deviation is.
Value T5Builder::attention(Value x, const std::string &layer, StringRef kind,
                           Stack &stack) {
  int64_t h = config.hidden, n = config.heads, d = config.headSize;
  bool crosses = kind == "EncDecAttention";
  std::string name = layer + kind.str();
  enter(layer + "layer_norm", locations.layers);
  Value a = norm(layer + "layer_norm", x);
  enter(name, locations.layers);
  Value from = crosses ? stack.memory : a;
  Value q = heads(a, deviation(h * d), name + ".q");
  Value k = heads(from, deviation(h), name + ".k");
  Value v = heads(from, deviation(h), name + ".v");
  if (!crosses && !stack.biasTable)
    biases(stack, name);
  Attention attention{q,
                      k,
                      v,
                      /*scale=*/1,
                      stack.causal && !crosses,
                      config.dropout,
                      crosses ? Value() : stack.biasTable,
                      crosses ? 0 : config.maxDistance};
  attention.querySegments = stack.tokens;
  attention.keySegments = crosses ? stack.memoryTokens : stack.tokens;
  Value o = ProgramBuilder::attention(attention);
  Value y = linear(
      o, deviation(config.headsSize()),
      {name + ".o", "bsnd,hnd->bsh", {h, n, d}, {h, config.headsSize()}});
  return residual(x, y);
}

/// Builds act(wi x), or act(wi_0 x) * wi_1 x (Shazeer 2020).
Value T5Builder::widen(Value x, const std::string &name) {
  int64_t h = config.hidden, f = config.inner;
  auto in = [&](StringRef part) {
    return linear(x, deviation(h),
                  {name + part.str(), "bsh,fh->bsf", {f, h}, {f, h}});
  };
  if (!config.gated)
    return map(config.activation, in(".wi"));
  Value gate = map(config.activation, in(".wi_0"));
  return einsum("bsf,bsf->bsf", {gate, in(".wi_1")});
}

Value T5Builder::feedForward(Value x, const std::string &layer) {
  int64_t h = config.hidden, f = config.inner;
  std::string name = layer + "DenseReluDense";
  enter(layer + "layer_norm", locations.layers);
  Value a = norm(layer + "layer_norm", x);
  enter(name, locations.layers);
  Value y = dropout(widen(a, name), config.dropout);
  y = linear(y, deviation(f), {name + ".wo", "bsf,hf->bsh", {h, f}, {h, f}});
  return residual(x, y);
}

Value T5Builder::embed(Value ids) {
  Value x = lookup(ids, embeddings);
  // The lookup itself is partial where the vocabulary is split.
  return dropout(stream(branch(x)), config.dropout);
}

Value T5Builder::run(Value x, Stack stack) {
  for (int64_t block = 0; block < stack.layers; ++block) {
    std::string prefix =
        stack.name + ".block." + std::to_string(block) + ".layer.";
    x = attention(x, prefix + "0.", "SelfAttention", stack);
    if (stack.memory)
      x = attention(x, prefix + "1.", "EncDecAttention", stack);
    x = feedForward(x, prefix + (stack.memory ? "2." : "1."));
  }
  enter(stack.name + ".final_layer_norm", locations.layers);
  x = norm(stack.name + ".final_layer_norm", x);
  if (!stack.memory)
    nn::setTag(x.getDefiningOp(), nn::Tag::Memory);
  return dropout(x, config.dropout);
}

Value T5Builder::logits(Value x) {
  enter(program::kHeadPart, locations.embedding);
  if (config.scalesOutput)
    x = einsum("bsh->bsh", x,
               1 / std::sqrt(static_cast<double>(config.hidden)));
  return outputLogits(x, embeddings, config.tied, config.initializerFactor);
}

OwningOpRef<ModuleOp> T5Builder::build() {
  sizes.ignoresLabels = false; // It has no other loss.
  begin({"t5", config.encoderLayers + config.decoderLayers, config.vocabulary,
         std::nullopt, std::nullopt, target, config.startToken, config.padToken,
         config.encoderLayers});
  enter("embedding", locations.embedding);
  embeddings = parameter({"shared.weight",
                          "vh",
                          {config.vocabulary, config.hidden},
                          {},
                          normal(config.initializerFactor),
                          true});
  Value ids = data("ids"), decoderIds = data("decoder_ids", target);
  Value labels = data("labels", target);
  Value source = segments("segments");
  Value decoded = segments("decoder_segments", target);
  Stack encoder{"encoder", config.encoderLayers, /*causal=*/false, {}, {}};
  encoder.tokens = source;
  Value memory = run(embed(ids), encoder);
  enter("embedding", locations.embedding);
  Stack decoder{"decoder", config.decoderLayers, /*causal=*/true, memory, {}};
  decoder.tokens = decoded;
  decoder.memoryTokens = source;
  Value x = run(embed(decoderIds), decoder);
  Value scores = logits(x);
  enter(program::kLossPart, locations.embedding);
  return finish(meanOverCounted(crossEntropy(scores, labels), labels));
}

/// Buckets and options stay; all heads together stay smaller than
/// the hidden size where they differ from it.
void shrink(T5Config &config, const ShrinkOptions &options) {
  bool differs = config.headsSize() != config.hidden;
  config.encoderLayers = std::min(config.encoderLayers, options.layers);
  config.decoderLayers = std::min(config.decoderLayers, options.layers);
  int64_t headSize = shrunkHeadSize(config.headSize, options);
  config.heads = shrunkHeads(config.heads, options);
  shrinkSizes(config, config.heads * headSize, options);
  config.headSize = differs ? std::max<int64_t>(1, headSize / 2) : headSize;
  config.padToken = std::min(config.padToken, config.vocabulary - 1);
  config.startToken = std::min(config.startToken, config.vocabulary - 1);
}

} // namespace

Imported tessera::importT5(const ConfigFile &file,
                           const ImportOptions &options) {
  FailureOr<T5Config> config = readT5(file, options.forEncoding);
  if (failed(config))
    return failure();
  if (options.shrink)
    shrink(*config, *options.shrink);
  FailureOr<ProgramSizes> sizes = chooseSizes(
      file, {"n_positions", kMaximalSize, config->positions}, options);
  if (failed(sizes))
    return failure();
  if (options.forGeneration)
    sizes->padding = config->padToken;
  // Another length than the source's shows where one is taken for the other.
  int64_t target = options.sizes.targetSequence;
  if (!target)
    target = options.shrink ? (sizes->sequence + 1) / 2 : sizes->sequence;
  return T5Builder(*config, *sizes, target,
                   {file.at("model_type"), file.at("vocab_size"),
                    file.at("num_layers")})
      .build();
}
