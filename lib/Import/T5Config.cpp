//===- T5Config.cpp - reads and checks the keys of a T5 config ------------===//

#include "lib/Import/T5Config.h"
#include "lib/Import/Activation.h"
#include "lib/Import/ConfigKeys.h"

using namespace mlir;
using namespace tessera;

static constexpr llvm::StringLiteral kRequired[] = {
    "model_type", "vocab_size", "d_model",  "d_kv",
    "d_ff",       "num_layers", "num_heads"};

static constexpr llvm::StringLiteral kOptional[] = {
    "num_decoder_layers",
    "relative_attention_num_buckets",
    "relative_attention_max_distance",
    "dropout_rate",
    "layer_norm_epsilon",
    "initializer_factor",
    "feed_forward_proj",
    "tie_word_embeddings",
    "scale_decoder_outputs",
    "pad_token_id",
    "decoder_start_token_id",
    "n_positions",
    "is_encoder_decoder",
    "dense_act_fn",
    "is_gated_act"};

static constexpr llvm::StringLiteral kPositions[] = {"relative"};

static constexpr llvm::StringLiteral kUnsupported[] = {"is_decoder"};

static constexpr StringRef kArchitectures[] = {"T5ForConditionalGeneration",
                                               "T5WithLMHeadModel", "T5Model",
                                               "T5EncoderModel"};

static const ConfigKeys kKeys = {
    "T5",
    "an encoder-decoder T5 with its language-model head",
    kRequired,
    kOptional,
    {},
    kUnsupported,
    kArchitectures,
    kPositions,
    /*isCausal=*/false};

/// Reads "relu" or "gated-gelu": T5 v1.1 calls the tanh form gelu. In
/// transformers the parts that follow from it may also be given, and then
/// count.
static LogicalResult readFeedForward(const ConfigFile &file, T5Config &config) {
  std::string text = "relu";
  if (failed(file.read("feed_forward_proj", text)))
    return failure();
  StringRef name = text;
  config.gated = name.consume_front("gated-");
  std::optional<nn::Function> found = activationOf(name);
  if (name == "gelu" && config.gated)
    found = nn::Function::GeluTanh;
  if (!found)
    return file.error("feed_forward_proj")
           << "unknown activation '" << text
           << "'; use relu, gelu, gelu_new or silu, or one of them after "
              "'gated-'";
  config.activation = *found;
  if (failed(file.read("is_gated_act", config.gated)) ||
      failed(readActivation(
          file, "dense_act_fn",
          {"relu", "gelu", "gelu_new", "gelu_pytorch_tanh", "silu"},
          config.activation)))
    return failure();
  file.forget("is_gated_act");
  file.forget("dense_act_fn");
  file.note("feed_forward_proj",
            StringRef((config.gated ? "gated-" : "") +
                      nn::stringifyFunction(config.activation).str()));
  return success();
}

static LogicalResult readSizes(const ConfigFile &file, T5Config &config) {
  Bounds<int64_t> size = {1, kMaximalSize}, layers = {1, kMaximalLayers};
  if (failed(file.read("vocab_size", config.vocabulary, size)) ||
      failed(file.read("d_model", config.hidden, size)) ||
      failed(file.read("d_kv", config.headSize, {1, 65536})) ||
      failed(file.read("d_ff", config.inner, size)) ||
      failed(file.read("num_heads", config.heads, {1, 65536})) ||
      failed(file.read("num_layers", config.encoderLayers, layers)))
    return failure();
  config.decoderLayers = config.encoderLayers;
  return failure(
      failed(file.read("num_decoder_layers", config.decoderLayers, layers)) ||
      failed(file.read("n_positions", config.positions, size)));
}

/// Reads the buckets. Exact distances come first: a quarter of the encoder's
/// buckets, half of the decoder's.
static LogicalResult readBuckets(const ConfigFile &file, T5Config &config) {
  if (failed(file.read("relative_attention_num_buckets", config.buckets,
                       {4, kMaximalSize})) ||
      failed(file.read("relative_attention_max_distance", config.maxDistance,
                       {1, kMaximalSize})))
    return failure();
  if (config.buckets % 2)
    return file.error("relative_attention_num_buckets")
           << "'relative_attention_num_buckets' = " << config.buckets
           << " is odd; the encoder gives each direction half of them";
  if (config.maxDistance <= config.buckets / 2)
    return file.error("relative_attention_max_distance")
           << "'relative_attention_max_distance' = " << config.maxDistance
           << " is not above " << config.buckets / 2
           << ", half of 'relative_attention_num_buckets', which the decoder "
              "keeps for exact distances; raise it";
  return success();
}

/// Some encoders' configs say so in `architectures` alone.
static bool namesEncoder(const ConfigFile &file) {
  const llvm::json::Value *names = file.find("architectures");
  const llvm::json::Array *list = names ? names->getAsArray() : nullptr;
  return list && !list->empty() &&
         list->front().getAsString() == StringRef("T5EncoderModel");
}

static LogicalResult readTokens(const ConfigFile &file, bool forEncoding,
                                T5Config &config) {
  Bounds<int64_t> token = {0, config.vocabulary - 1};
  bool encoderDecoder = true;
  if (failed(file.read("is_encoder_decoder", encoderDecoder)) ||
      failed(file.read("pad_token_id", config.padToken, token)))
    return failure();
  config.startToken = config.padToken;
  bool namesAlone = namesEncoder(file);
  if (!forEncoding && (!encoderDecoder || namesAlone))
    return file.error(namesAlone ? "architectures" : "is_encoder_decoder")
           << "a T5 that is an encoder alone has no loss; give --programs "
              "encode, or take the config.json of the whole model";
  return file.read("decoder_start_token_id", config.startToken, token);
}

static LogicalResult readNumbers(const ConfigFile &file, T5Config &config) {
  if (failed(file.read("dropout_rate", config.dropout, {0, 1})) ||
      failed(file.read("layer_norm_epsilon", config.epsilon, {0, 1})) ||
      failed(file.read("initializer_factor", config.initializerFactor,
                       {0, 1000})) ||
      failed(file.read("tie_word_embeddings", config.tied)))
    return failure();
  config.scalesOutput = config.tied;
  return file.read("scale_decoder_outputs", config.scalesOutput);
}

FailureOr<T5Config> tessera::readT5(const ConfigFile &file, bool forEncoding) {
  T5Config config;
  if (failed(checkKeys(file, kKeys)) || failed(readSizes(file, config)) ||
      failed(readBuckets(file, config)) ||
      failed(readFeedForward(file, config)) ||
      failed(readTokens(file, forEncoding, config)) ||
      failed(readNumbers(file, config)))
    return failure();
  file.forget("n_positions"); // positions are not learnt
  file.forget("is_encoder_decoder");
  return config;
}
