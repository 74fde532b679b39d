//===- BertConfig.cpp - reads and checks the keys of a BERT config --------===//

#include "lib/Import/BertConfig.h"
#include "lib/Import/Activation.h"
#include "lib/Import/ConfigKeys.h"
#include "lib/Import/MaskToken.h"

using namespace mlir;
using namespace tessera;

static constexpr llvm::StringLiteral kRequired[] = {
    "model_type",        "vocab_size",        "hidden_size",
    "intermediate_size", "num_hidden_layers", "num_attention_heads"};

static constexpr llvm::StringLiteral kOptional[] = {
    "max_position_embeddings",      "type_vocab_size",     "hidden_act",
    "hidden_dropout_prob",          "initializer_range",   "layer_norm_eps",
    "attention_probs_dropout_prob", "tie_word_embeddings", "mask_token_id",
    "position_embedding_type",      "pad_token_id"};

/// The pooler belongs to classification heads.
static constexpr llvm::StringLiteral kHarmless[] = {
    "directionality",
    "pooler_fc_size",
    "pooler_num_attention_heads",
    "pooler_num_fc_layers",
    "pooler_size_per_head",
    "pooler_type",
    "add_pooling_layer"};

static constexpr llvm::StringLiteral kUnsupported[] = {"is_decoder"};

static constexpr StringRef kArchitectures[] = {"BertForMaskedLM", "BertModel"};

static const ConfigKeys kKeys = {"BERT",
                                 "a bidirectional BERT with its masked-LM head",
                                 kRequired,
                                 kOptional,
                                 kHarmless,
                                 kUnsupported,
                                 kArchitectures,
                                 /*positions=*/{},
                                 /*isCausal=*/false};

static LogicalResult readSizes(const ConfigFile &file, BertConfig &config) {
  Bounds<int64_t> size = {1, kMaximalSize};
  if (failed(file.read("vocab_size", config.vocabulary, size)) ||
      failed(file.read("hidden_size", config.hidden, size)) ||
      failed(file.read("intermediate_size", config.inner, size)) ||
      failed(
          file.read("num_hidden_layers", config.layers, {1, kMaximalLayers})) ||
      failed(file.read("num_attention_heads", config.heads, size)) ||
      failed(file.read("max_position_embeddings", config.positions, size)) ||
      failed(file.read("type_vocab_size", config.tokenTypes, size)))
    return failure();
  if (config.hidden % config.heads)
    return file.error("num_attention_heads")
           << "'hidden_size' = " << config.hidden
           << " is not a multiple of 'num_attention_heads' = " << config.heads
           << "; every head needs the same size, so change one of them";
  return readPadding(file, config.vocabulary, config.padding);
}

static LogicalResult readNumbers(const ConfigFile &file, BertConfig &config) {
  Bounds<double> probability = {0, 1};
  std::string positions = "absolute";
  if (failed(file.read("hidden_dropout_prob", config.hiddenDropout,
                       probability)) ||
      failed(file.read("attention_probs_dropout_prob", config.attentionDropout,
                       probability)) ||
      failed(file.read("layer_norm_eps", config.epsilon, {0, 1})) ||
      failed(
          file.read("initializer_range", config.initializerRange, {0, 1000})) ||
      failed(file.read("tie_word_embeddings", config.tied)) ||
      failed(file.read("position_embedding_type", positions)))
    return failure();
  if (positions != "absolute")
    return file.error("position_embedding_type")
           << "position embeddings of type '" << positions
           << "' are not supported; use absolute";
  return success();
}

FailureOr<BertConfig> tessera::readBert(const ConfigFile &file,
                                        bool forEncoding) {
  BertConfig config;
  if (failed(checkKeys(file, kKeys)) || failed(readSizes(file, config)) ||
      failed(readActivation(
          file, "hidden_act",
          {"gelu", "gelu_new", "gelu_pytorch_tanh", "relu", "silu"},
          config.activation)) ||
      failed(readNumbers(file, config)))
    return failure();
  FailureOr<std::optional<int64_t>> mask =
      readMaskToken(file, config.vocabulary);
  if (failed(mask))
    return failure();
  config.maskToken = *mask;
  if (config.maskToken)
    file.note("mask_token_id", *config.maskToken);
  if (!config.maskToken && !forEncoding)
    return refuseMissingMask(file);
  return config;
}
