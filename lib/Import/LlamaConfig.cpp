//===- LlamaConfig.cpp - reads and checks the keys of a LLaMA config ------===//

#include "lib/Import/LlamaConfig.h"
#include "lib/Import/ConfigKeys.h"

using namespace mlir;
using namespace tessera;

static constexpr llvm::StringLiteral kRequired[] = {
    "model_type",        "vocab_size",        "hidden_size",
    "intermediate_size", "num_hidden_layers", "num_attention_heads"};

static constexpr llvm::StringLiteral kOptional[] = {
    "num_key_value_heads", "head_dim",          "hidden_act",
    "rms_norm_eps",        "initializer_range", "max_position_embeddings",
    "rope_theta",          "rope_scaling",      "rope_parameters",
    "attention_dropout",   "attention_bias",    "mlp_bias",
    "tie_word_embeddings", "sliding_window",    "use_sliding_window",
    "layer_types"};

/// Keys of Mixtral only.
static constexpr llvm::StringLiteral kExpertKeys[] = {
    "num_local_experts", "num_experts_per_tok", "output_router_logits",
    "router_aux_loss_coef", "router_jitter_noise"};

static constexpr llvm::StringLiteral kHarmless[] = {"pretraining_tp",
                                                    "max_window_layers"};

static constexpr llvm::StringLiteral kLlama[] = {"LlamaForCausalLM",
                                                 "LlamaModel"};
static constexpr llvm::StringLiteral kMistral[] = {"MistralForCausalLM",
                                                   "MistralModel"};
static constexpr llvm::StringLiteral kQwen2[] = {"Qwen2ForCausalLM",
                                                 "Qwen2Model"};

static constexpr llvm::StringLiteral kMixtral[] = {"MixtralForCausalLM",
                                                   "MixtralModel"};

/// What the families of this make differ in.
struct Defaults {
  StringRef name;
  int64_t positions, keyHeads;
  bool queryBias;
  ArrayRef<llvm::StringLiteral> architectures;
  double theta = 10000;
};

static Defaults defaultsOf(StringRef family) {
  if (family == "mistral")
    return {"Mistral", 131072, 8, false, kMistral};
  if (family == "qwen2")
    return {"Qwen2", 32768, 32, true, kQwen2};
  if (family == "mixtral")
    return {"Mixtral", 131072, 8, false, kMixtral, 1e6};
  return {"LLaMA", 2048, 0, false, kLlama};
}

/// A frequency of each pair of a head's elements is part of the program.
static constexpr int64_t kMaximalHeadSize = 65536;

static LogicalResult readHeads(const ConfigFile &file, LlamaConfig &config) {
  Bounds<int64_t> size = {1, kMaximalSize};
  bool hasSize = file.find("head_dim");
  if (failed(file.read("num_key_value_heads", config.keyHeads, size)) ||
      failed(file.read("head_dim", config.headSize, {2, kMaximalHeadSize})))
    return failure();
  if (config.heads % config.keyHeads)
    return file.error("num_attention_heads")
           << "'num_attention_heads' = " << config.heads
           << " is not a multiple of 'num_key_value_heads' = "
           << config.keyHeads
           << "; every key head needs the same number of query heads";
  if (!hasSize && config.hidden % config.heads)
    return file.error("num_attention_heads")
           << "'hidden_size' = " << config.hidden
           << " is not a multiple of 'num_attention_heads' = " << config.heads
           << "; change one of them or give 'head_dim'";
  if (!hasSize)
    config.headSize = config.hidden / config.heads;
  if (config.headSize % 2)
    return file.error(hasSize ? "head_dim" : "num_attention_heads")
           << "heads of size " << config.headSize
           << " cannot be rotated in pairs; use an even size";
  if (config.headSize > kMaximalHeadSize)
    return file.error("num_attention_heads")
           << "heads of size " << config.headSize
           << " are out of range; use at most " << kMaximalHeadSize
           << ", with more heads or another 'head_dim'";
  if (config.heads > kMaximalSize / config.headSize)
    return file.error("num_attention_heads")
           << "'num_attention_heads' = " << config.heads << " of size "
           << config.headSize << " are out of range; together they must be at "
           << "most " << kMaximalSize;
  return success();
}

static LogicalResult readSizes(const ConfigFile &file, LlamaConfig &config) {
  Bounds<int64_t> size = {1, kMaximalSize};
  if (failed(file.read("vocab_size", config.vocabulary, size)) ||
      failed(file.read("hidden_size", config.hidden, size)) ||
      failed(file.read("intermediate_size", config.inner, size)) ||
      failed(
          file.read("num_hidden_layers", config.layers, {1, kMaximalLayers})) ||
      failed(file.read("num_attention_heads", config.heads, size)) ||
      failed(file.read("max_position_embeddings", config.positions, size)))
    return failure();
  if (config.keyHeads == 0)
    config.keyHeads = config.heads;
  return readHeads(file, config);
}

static LogicalResult readOptions(const ConfigFile &file, LlamaConfig &config) {
  std::string activation = "silu";
  bool attentionBias = false;
  if (failed(file.read("hidden_act", activation)) ||
      failed(file.read("rms_norm_eps", config.epsilon, {0, 1})) ||
      failed(
          file.read("initializer_range", config.initializerRange, {0, 1000})) ||
      failed(file.read("attention_dropout", config.attentionDropout, {0, 1})) ||
      failed(file.read("attention_bias", attentionBias)) ||
      failed(file.read("mlp_bias", config.mlpBias)) ||
      failed(file.read("tie_word_embeddings", config.tied)))
    return failure();
  if (activation != "silu")
    return file.error("hidden_act")
           << "unknown activation '" << activation << "'; use silu";
  if (config.family != "llama" && (attentionBias || config.mlpBias))
    return file.error(attentionBias ? "attention_bias" : "mlp_bias")
           << "a " << defaultsOf(config.family).name
           << " has no such option; use model_type llama";
  config.queryBias |= attentionBias;
  config.outputBias = attentionBias;
  return success();
}

static constexpr int64_t kMaximalExperts = 4096;

static LogicalResult readExperts(const ConfigFile &file, LlamaConfig &config) {
  Experts experts;
  bool balances = false;
  double balance = 0.001, jitter = 0;
  if (failed(file.read("num_local_experts", experts.count,
                       {1, kMaximalExperts})) ||
      failed(file.read("num_experts_per_tok", experts.perToken,
                       {1, kMaximalExperts})) ||
      failed(file.read("output_router_logits", balances)) ||
      failed(file.read("router_aux_loss_coef", balance, {0, 1000})) ||
      failed(file.read("router_jitter_noise", jitter, {0, 1})))
    return failure();
  if (experts.perToken > experts.count)
    return file.error("num_experts_per_tok")
           << "'num_experts_per_tok' = " << experts.perToken
           << " is more than 'num_local_experts' = " << experts.count
           << "; a token goes to at most all experts";
  if (jitter != 0)
    return file.error("router_jitter_noise")
           << "'router_jitter_noise' = " << jitter
           << " is not supported; use 0: tokens reach the router unchanged";
  experts.balance = balances ? balance : 0;
  config.experts = experts;
  return success();
}

FailureOr<LlamaConfig> tessera::readLlama(const ConfigFile &file) {
  LlamaConfig config;
  if (failed(file.read("model_type", config.family)))
    return failure();
  Defaults defaults = defaultsOf(config.family);
  std::string training = "a " + defaults.name.str();
  config.positions = defaults.positions;
  config.keyHeads = defaults.keyHeads;
  config.queryBias = defaults.queryBias;
  SmallVector<llvm::StringLiteral> optional;
  llvm::append_range(optional, kOptional);
  if (config.family == "mixtral")
    llvm::append_range(optional, kExpertKeys);
  ConfigKeys keys = {
      defaults.name,         training, kRequired, optional, kHarmless, {},
      defaults.architectures};
  if (failed(checkKeys(file, keys)) || failed(readSizes(file, config)) ||
      failed(readOptions(file, config)))
    return failure();
  if (config.family == "mixtral" && failed(readExperts(file, config)))
    return failure();
  FailureOr<RopeConfig> rope = readRope(file, config.positions, defaults.theta);
  if (failed(rope))
    return failure();
  config.rope = *rope;
  return config;
}

/// A layer that sees a part of the sequence; what does not say so sees it all.
static LogicalResult checkLayerTypes(const ConfigFile &file, bool &windowed) {
  const llvm::json::Value *types = file.find("layer_types");
  if (!types)
    return success();
  windowed = false;
  const llvm::json::Array *list = types->getAsArray();
  if (!list)
    return file.error("layer_types") << "'layer_types' must be a list";
  for (const llvm::json::Value &type : *list) {
    std::optional<StringRef> name = type.getAsString();
    windowed |= name == "sliding_attention";
    if (name != "sliding_attention" && name != "full_attention")
      return file.error("layer_types") << "'layer_types' names a layer that is "
                                          "neither full_attention nor "
                                          "sliding_attention";
  }
  return success();
}

LogicalResult tessera::checkWindow(const ConfigFile &file, int64_t sequence) {
  std::string family;
  // Mistral has a window unless its config says null, Mixtral where it gives
  // one, Qwen2 where it asks.
  int64_t window = 4096;
  if (failed(file.read("model_type", family)) ||
      failed(file.read("sliding_window", window, {1, kMaximalSize})))
    return failure();
  bool windowed = family == "mistral" && !file.isNull("sliding_window");
  if (family == "mixtral")
    windowed = file.find("sliding_window") && !file.isNull("sliding_window");
  if (failed(file.read("use_sliding_window", windowed)) ||
      failed(checkLayerTypes(file, windowed)))
    return failure();
  if (!windowed || sequence <= window)
    return success();
  return file.error(file.find("sliding_window") ? "sliding_window"
                                                : "model_type")
         << "a sequence of " << sequence << " tokens is longer than "
         << "'sliding_window' = " << window
         << ", and attention to a window is not supported; use a sequence "
            "length of at most "
         << window;
}
