//===- GPT2Config.cpp - reads and checks the keys of a GPT-2 config -------===//

#include "GPT2.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace tessera;

/// Sizes index i32 token ids and i64 elements; a module holds every layer.
static constexpr int64_t kMaximalSize = (int64_t(1) << 31) - 1;
static constexpr int64_t kMaximalLayers = 4096;

static constexpr llvm::StringLiteral kRequired[] = {
    "model_type", "vocab_size", "n_positions", "n_embd", "n_layer", "n_head"};

static constexpr llvm::StringLiteral kOptional[] = {
    "n_inner",
    "activation_function",
    "resid_pdrop",
    "embd_pdrop",
    "attn_pdrop",
    "layer_norm_epsilon",
    "initializer_range",
    "scale_attn_weights",
    "scale_attn_by_inverse_layer_idx",
    "tie_word_embeddings"};

/// Keys of transformers that do not change training of a language model.
/// `reorder_and_upcast_attn` asks for f32 scores, which Tessera has in every
/// precision; `summary_*` belong to classification heads.
static constexpr llvm::StringLiteral kHarmless[] = {
    "n_ctx",
    "architectures",
    "bos_token_id",
    "eos_token_id",
    "pad_token_id",
    "use_cache",
    "reorder_and_upcast_attn",
    "torch_dtype",
    "dtype",
    "transformers_version",
    "_name_or_path",
    "task_specific_params",
    "id2label",
    "label2id",
    "num_labels",
    "problem_type",
    "is_decoder",
    "summary_type",
    "summary_use_proj",
    "summary_activation",
    "summary_proj_to_labels",
    "summary_first_dropout",
    "output_attentions",
    "output_hidden_states",
    "return_dict",
    "gradient_checkpointing",
    "keys_to_ignore_at_inference",
    "chunk_size_feed_forward",
    "attn_implementation",
    "_attn_implementation",
    "pruned_heads",
    "is_encoder_decoder",
    "add_cross_attention",
    "quantization_config"};

/// Keys that change the model wherever their value is not empty or false.
static constexpr llvm::StringLiteral kUnsupported[] = {
    "add_cross_attention", "is_encoder_decoder", "pruned_heads",
    "quantization_config"};

static bool isEmpty(const llvm::json::Value &value) {
  if (std::optional<bool> flag = value.getAsBoolean())
    return !*flag;
  if (const llvm::json::Object *object = value.getAsObject())
    return object->empty();
  if (const llvm::json::Array *array = value.getAsArray())
    return array->empty();
  return false;
}

static LogicalResult checkUnsupported(const ConfigFile &file) {
  for (StringRef key : kUnsupported)
    if (const llvm::json::Value *value = file.find(key))
      if (!isEmpty(*value))
        return file.error(key)
               << "'" << key
               << "' changes the model and is not supported; remove it to "
                  "train a decoder-only GPT-2";
  const llvm::json::Value *names = file.find("architectures");
  const llvm::json::Array *list = names ? names->getAsArray() : nullptr;
  if (list && !list->empty() && (*list)[0].getAsString() != "GPT2LMHeadModel" &&
      (*list)[0].getAsString() != "GPT2Model")
    return file.error("architectures")
           << "'architectures' names " << llvm::formatv("{0}", (*list)[0]).str()
           << "; only 'GPT2LMHeadModel' is supported";
  return success();
}

/// A key one or two letters away from a known one is taken for a mistake, all
/// others are listed once.
static LogicalResult checkUnknown(const ConfigFile &file) {
  SmallVector<StringRef> known(std::begin(kRequired), std::end(kRequired));
  llvm::append_range(known, kOptional);
  SmallVector<StringRef> unknown;
  for (const auto &entry : file.object()) {
    StringRef key = entry.first;
    if (llvm::is_contained(known, key) || llvm::is_contained(kHarmless, key))
      continue;
    for (StringRef meant : known)
      if (key.edit_distance(meant, true, 2) < (meant.size() < 8 ? 2u : 3u))
        return file.error(key) << "unknown key '" << key << "'; did you mean '"
                               << meant << "'?";
    unknown.push_back(key);
  }
  if (unknown.empty())
    return success();
  llvm::sort(unknown);
  emitWarning(file.at(unknown.front()))
      << "ignored keys that GPT-2 does not have: " << llvm::join(unknown, ", ");
  return success();
}

static LogicalResult readActivation(const ConfigFile &file,
                                    nn::Function &function) {
  std::string name = "gelu_new";
  if (failed(file.read("activation_function", name)))
    return failure();
  auto found =
      llvm::StringSwitch<std::optional<nn::Function>>(name)
          .Cases({"gelu_new", "gelu_pytorch_tanh"}, nn::Function::GeluTanh)
          .Case("gelu", nn::Function::Gelu)
          .Case("relu", nn::Function::Relu)
          .Default(std::nullopt);
  if (!found)
    return file.error("activation_function")
           << "unknown activation '" << name
           << "'; use gelu_new, gelu_pytorch_tanh, gelu or relu";
  function = *found;
  return success();
}

static LogicalResult readSizes(const ConfigFile &file, GPT2Config &config) {
  Range<int64_t> size = {1, kMaximalSize};
  if (failed(file.read("vocab_size", config.vocabulary, size)) ||
      failed(file.read("n_positions", config.positions, size)) ||
      failed(file.read("n_embd", config.hidden, size)) ||
      failed(file.read("n_layer", config.layers, {1, kMaximalLayers})) ||
      failed(file.read("n_head", config.heads, size)))
    return failure();
  if (config.hidden % config.heads)
    return file.error("n_head")
           << "'n_embd' = " << config.hidden
           << " is not a multiple of 'n_head' = " << config.heads
           << "; every head needs the same size, so change one of them";
  if (config.hidden > kMaximalSize / 4)
    return file.error("n_embd")
           << "'n_embd' = " << config.hidden
           << " is out of range; it must be at most " << kMaximalSize / 4;
  config.inner = 4 * config.hidden;
  return file.read("n_inner", config.inner, size);
}

static LogicalResult readNumbers(const ConfigFile &file, GPT2Config &config) {
  Range<double> probability = {0, 1};
  return success(
      succeeded(
          file.read("resid_pdrop", config.residualDropout, probability)) &&
      succeeded(
          file.read("embd_pdrop", config.embeddingDropout, probability)) &&
      succeeded(
          file.read("attn_pdrop", config.attentionDropout, probability)) &&
      succeeded(file.read("layer_norm_epsilon", config.epsilon, {0, 1})) &&
      succeeded(
          file.read("initializer_range", config.initializerRange, {0, 1000})) &&
      succeeded(file.read("scale_attn_weights", config.scaleAttention)) &&
      succeeded(
          file.read("scale_attn_by_inverse_layer_idx", config.scaleByLayer)) &&
      succeeded(file.read("tie_word_embeddings", config.tied)));
}

FailureOr<GPT2Config> tessera::readGPT2(const ConfigFile &file) {
  GPT2Config config;
  if (failed(checkUnknown(file)) || failed(file.require(kRequired)) ||
      failed(checkUnsupported(file)) || failed(readSizes(file, config)) ||
      failed(readActivation(file, config.activation)) ||
      failed(readNumbers(file, config)))
    return failure();
  return config;
}
