//===- LlamaConfig.cpp - reads and checks the keys of a LLaMA config ------===//

#include "lib/Import/LlamaConfig.h"
#include "lib/Import/ConfigKeys.h"

using namespace mlir;
using namespace tessera;

static constexpr llvm::StringLiteral kRequired[] = {
    "model_type",        "vocab_size",        "hidden_size",
    "intermediate_size", "num_hidden_layers", "num_attention_heads"};

static constexpr llvm::StringLiteral kOptional[] = {
    "num_key_value_heads",
    "head_dim",
    "hidden_act",
    "rms_norm_eps",
    "initializer_range",
    "max_position_embeddings",
    "rope_theta",
    "rope_scaling",
    "rope_parameters",
    "attention_dropout",
    "attention_bias",
    "mlp_bias",
    "tie_word_embeddings",
    "pad_token_id",
    "partial_rotary_factor",
    "original_max_position_embeddings"};

/// Keys of one family only.
static constexpr llvm::StringLiteral kMistralKeys[] = {
    "sliding_window", "use_sliding_window", "max_window_layers", "layer_types"};
static constexpr llvm::StringLiteral kQwen2Keys[] = {
    "sliding_window", "use_sliding_window", "max_window_layers", "layer_types"};
static constexpr llvm::StringLiteral kMixtralKeys[] = {
    "sliding_window",       "use_sliding_window",  "max_window_layers",
    "num_local_experts",    "num_experts_per_tok", "output_router_logits",
    "router_aux_loss_coef", "router_jitter_noise"};

static constexpr llvm::StringLiteral kHarmless[] = {"pretraining_tp"};
static constexpr llvm::StringLiteral kPositions[] = {"rope", "rotary"};

static constexpr llvm::StringLiteral kLlama[] = {"LlamaForCausalLM",
                                                 "LlamaModel"};
static constexpr llvm::StringLiteral kMistral[] = {"MistralForCausalLM",
                                                   "MistralModel"};
static constexpr llvm::StringLiteral kQwen2[] = {"Qwen2ForCausalLM",
                                                 "Qwen2Model"};

static constexpr llvm::StringLiteral kMixtral[] = {"MixtralForCausalLM",
                                                   "MixtralModel"};

/// Defaults in which the families of this make differ.
struct Defaults {
  StringRef name;
  int64_t positions, keyHeads;
  bool queryBias;
  ArrayRef<llvm::StringLiteral> architectures, ownKeys;
  double theta = 10000, epsilon = 1e-6;
};

static Defaults defaultsOf(StringRef family) {
  if (family == "mistral")
    return {"Mistral", 131072, 8, false, kMistral, kMistralKeys};
  if (family == "qwen2")
    return {"Qwen2", 32768, 32, true, kQwen2, kQwen2Keys};
  if (family == "mixtral")
    return {"Mixtral", 131072, 8, false, kMixtral, kMixtralKeys, 1e6, 1e-5};
  return {"LLaMA", 2048, 0, false, kLlama, {}};
}

/// A frequency of each pair of a head's elements is part of the program.
static constexpr int64_t kMaximalHeadSize = 65536;

static LogicalResult readHeads(const ConfigFile &file, LlamaConfig &config) {
  Bounds<int64_t> size = {1, kMaximalSize};
  bool hasSize = file.find("head_dim");
  // In transformers null is another value than none.
  if (file.isNull("num_key_value_heads"))
    config.keyHeads = config.heads;
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
  file.note("num_key_value_heads", config.keyHeads);
  file.note("head_dim", config.headSize);
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
      failed(file.read("max_position_embeddings", config.positions, size)) ||
      failed(readPadding(file, config.vocabulary, config.padding)))
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
  if (activation == "swish") { // another name of it
    activation = "silu";
    file.note("hidden_act", llvm::json::Value(activation));
  }
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

/// Returns whether a layer has the window, where `layer_types` says so.
static FailureOr<std::vector<bool>> readLayerTypes(const ConfigFile &file,
                                                   int64_t layers) {
  const llvm::json::Array *list = file.find("layer_types")->getAsArray();
  if (!list)
    return file.error("layer_types") << "'layer_types' must be a list";
  if (static_cast<int64_t>(list->size()) != layers)
    return file.error("layer_types")
           << "'layer_types' has " << list->size()
           << " entries, but 'num_hidden_layers' is " << layers;
  std::vector<bool> windowed;
  for (const llvm::json::Value &type : *list) {
    std::optional<StringRef> name = type.getAsString();
    if (name != "sliding_attention" && name != "full_attention")
      return file.error("layer_types") << "'layer_types' names a layer that is "
                                          "neither full_attention nor "
                                          "sliding_attention";
    windowed.push_back(name == "sliding_attention");
  }
  return windowed;
}

/// Returns the window of a model; 0: none. Mistral has one unless its config
/// says null, Mixtral where it gives one, Qwen2 where it asks.
static FailureOr<int64_t> readWindow(const ConfigFile &file, StringRef family) {
  int64_t window = 4096;
  bool asks = family == "mistral" ||
              (family == "mixtral" && file.find("sliding_window"));
  if (family == "qwen2" && failed(file.read("use_sliding_window", asks)))
    return failure();
  if (failed(file.read("sliding_window", window, {1, kMaximalSize})))
    return failure();
  return asks && !file.isNull("sliding_window") ? window : 0;
}

/// Remembers which layers have a window, whichever keys said so.
static void noteWindows(const ConfigFile &file, const LlamaConfig &config) {
  file.forget("use_sliding_window");
  file.forget("max_window_layers");
  llvm::json::Array types;
  int64_t window = 0;
  for (int64_t own : config.windows) {
    types.push_back(own ? "sliding_attention" : "full_attention");
    window = std::max(window, own);
  }
  file.note("sliding_window",
            window ? llvm::json::Value(window) : llvm::json::Value(nullptr));
  file.note("layer_types", llvm::json::Value(std::move(types)));
}

/// Emits an error where keys that only Qwen2 has say anything else than
/// `sliding_window`, which counts in all layers of the other families.
static LogicalResult checkWindowKeys(const ConfigFile &file, int64_t window) {
  bool asks = window != 0;
  int64_t first = 0;
  if (failed(file.read("use_sliding_window", asks)) ||
      failed(file.read("max_window_layers", first, {0, kMaximalLayers})))
    return failure();
  if (!asks && window != 0)
    return file.error("use_sliding_window")
           << "'use_sliding_window' = false, but the window is " << window
           << "; transformers reads 'sliding_window' alone, which is null for "
              "none";
  if (window != 0 && first != 0)
    return file.error("max_window_layers")
           << "'max_window_layers' = " << first
           << " leaves the window out of layers, which only Qwen2 has; remove "
              "it for a window in all layers";
  return success();
}

/// Reads the window of each layer as transformers 5 does: in Mistral and Qwen2
/// `layer_types` says which layers have it; without it, all layers of Mistral
/// and Mixtral have it, and the layers of Qwen2 from number `max_window_layers`
/// on.
static LogicalResult readWindows(const ConfigFile &file, LlamaConfig &config) {
  config.windows.assign(config.layers, 0);
  if (config.family == "llama")
    return success();
  FailureOr<int64_t> window = readWindow(file, config.family);
  int64_t first = config.family == "qwen2" ? 28 : 0;
  if (failed(window) ||
      (config.family != "qwen2" && failed(checkWindowKeys(file, *window))) ||
      (config.family == "qwen2" &&
       failed(file.read("max_window_layers", first, {0, kMaximalLayers}))))
    return failure();
  std::vector<bool> windowed(config.layers, *window != 0);
  std::fill_n(windowed.begin(), std::min(first, config.layers), false);
  if (file.find("layer_types") && config.family != "mixtral") {
    FailureOr<std::vector<bool>> types = readLayerTypes(file, config.layers);
    if (failed(types))
      return failure();
    windowed = *types;
  }
  if (*window == 0 && llvm::is_contained(windowed, true))
    return file.error("layer_types")
           << "'layer_types' names sliding_attention, but there is no window; "
           << (config.family == "qwen2" ? "set 'use_sliding_window'"
                                        : "give 'sliding_window'");
  for (int64_t layer = 0; layer < config.layers; ++layer)
    config.windows[layer] = windowed[layer] ? *window : 0;
  noteWindows(file, config);
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
  config.epsilon = defaults.epsilon;
  SmallVector<llvm::StringLiteral> optional;
  llvm::append_range(optional, kOptional);
  llvm::append_range(optional, defaults.ownKeys);
  ConfigKeys keys = {
      defaults.name,          training,  kRequired, optional, kHarmless, {},
      defaults.architectures, kPositions};
  if (failed(checkKeys(file, keys)) || failed(readSizes(file, config)) ||
      failed(readOptions(file, config)) || failed(readWindows(file, config)))
    return failure();
  if (config.family == "mixtral" && failed(readExperts(file, config)))
    return failure();
  FailureOr<RopeConfig> rope = readRope(file, config.positions, defaults.theta);
  if (failed(rope))
    return failure();
  config.rope = *rope;
  file.forget("max_position_embeddings"); // positions are not learnt
  return config;
}
