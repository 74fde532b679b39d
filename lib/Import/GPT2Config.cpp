//===- GPT2Config.cpp - reads and checks the keys of a GPT-2 config -------===//

#include "lib/Import/Activation.h"
#include "lib/Import/ConfigKeys.h"
#include "lib/Import/GPT2.h"

using namespace mlir;
using namespace tessera;

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

/// `summary_*` belong to classification heads.
static constexpr llvm::StringLiteral kHarmless[] = {"n_ctx",
                                                    "summary_type",
                                                    "summary_use_proj",
                                                    "summary_activation",
                                                    "summary_proj_to_labels",
                                                    "summary_first_dropout"};

static constexpr StringRef kArchitectures[] = {"GPT2LMHeadModel", "GPT2Model"};

static constexpr llvm::StringLiteral kPositions[] = {"absolute", "learned",
                                                     "learned_absolute"};

static const ConfigKeys kKeys = {
    "GPT-2", "a decoder-only GPT-2", kRequired, kOptional, kHarmless,
    {},      kArchitectures,         kPositions};

static LogicalResult readSizes(const ConfigFile &file, GPT2Config &config) {
  Bounds<int64_t> size = {1, kMaximalSize};
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
  Bounds<double> probability = {0, 1};
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
  if (failed(checkKeys(file, kKeys)) || failed(readSizes(file, config)) ||
      failed(readActivation(file, "activation_function",
                            {"gelu_new", "gelu_pytorch_tanh", "gelu", "relu"},
                            config.activation)) ||
      failed(readNumbers(file, config)))
    return failure();
  return config;
}
