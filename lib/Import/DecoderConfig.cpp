//===- DecoderConfig.cpp - reads and checks the keys of a decoder ---------===//

#include "lib/Import/Activation.h"
#include "lib/Import/ConfigKeys.h"
#include "lib/Import/DecoderModel.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

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

static constexpr llvm::StringLiteral kHarmless[] = {"pretraining_tp"};
static constexpr llvm::StringLiteral kPositions[] = {"rope", "rotary"};

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

/// A frequency of each pair of a head's elements is part of the program.
static constexpr int64_t kMaximalHeadSize = 65536;

static LogicalResult readHeads(const ConfigFile &file, Decoder &config) {
  Bounds<int64_t> size = {1, kMaximalSize};
  if (file.isNull("head_dim"))
    config.headSize = 0;
  bool hasSize = file.find("head_dim") || config.headSize;
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
    return file.error(file.find("head_dim") ? "head_dim"
                                            : "num_attention_heads")
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

static LogicalResult readSizes(const ConfigFile &file, int64_t &layers,
                               Decoder &config) {
  Bounds<int64_t> size = {1, kMaximalSize};
  if (failed(file.read("vocab_size", config.vocabulary, size)) ||
      failed(file.read("hidden_size", config.hidden, size)) ||
      failed(file.read("intermediate_size", config.inner, size)) ||
      failed(file.read("num_hidden_layers", layers, {1, kMaximalLayers})) ||
      failed(file.read("num_attention_heads", config.heads, size)) ||
      failed(file.read("max_position_embeddings", config.positions, size)) ||
      failed(readPadding(file, config.vocabulary, config.padding)))
    return failure();
  if (config.keyHeads == 0)
    config.keyHeads = config.heads;
  return readHeads(file, config);
}

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

/// Returns the name that ACT2FN has for what a family's config means.
static StringRef usualName(const DecoderFamily &family, StringRef name) {
  if (name == "swish")
    return "silu";
  return name == "gelu" && family.geluIsTanh ? "gelu_pytorch_tanh" : name;
}

/// Emits an error where the key that transformers does not read, of the two
/// that hold an activation, names another one.
static LogicalResult checkOtherActivation(const ConfigFile &file,
                                          const Decoder &model) {
  const DecoderFamily &family = *model.family;
  const StringRef key =
      family.activationKey == "hidden_act" ? "hidden_activation" : "hidden_act";
  const llvm::json::Value *given = file.find(key);
  if (!family.has("hidden_activation") || !given)
    return success();
  StringRef name = given->getAsString().value_or("");
  if (activationOf(usualName(family, name)) == model.activation)
    return success();
  return file.error(key) << "'" << key
                         << "' = " << llvm::formatv("{0}", *given).str()
                         << " is not the activation in effect, "
                         << nn::stringifyFunction(model.activation)
                         << ", which '" << family.activationKey
                         << "' gives; remove one of them";
}

static LogicalResult readFunction(const ConfigFile &file, Decoder &model) {
  const DecoderFamily &family = *model.family;
  const StringRef key = family.activationKey;
  model.activation = *activationOf(family.activation);
  SmallVector<StringRef> names = {"silu"};
  if (model.activation != nn::Function::Silu)
    names = {"gelu_pytorch_tanh", "gelu_new", "gelu", "silu"};
  const llvm::json::Value *given = file.find(key);
  StringRef name = given ? given->getAsString().value_or("") : "";
  if (StringRef usual = usualName(family, name); usual != name) {
    model.activation = *activationOf(usual);
    file.note(key, nn::stringifyFunction(model.activation));
  } else if (failed(readActivation(file, key, names, model.activation))) {
    return failure();
  }
  return checkOtherActivation(file, model);
}

static LogicalResult readBiases(const ConfigFile &file, Decoder &model) {
  const DecoderFamily &family = *model.family;
  bool attention = family.hasAttentionBias && family.queryBias;
  if (failed(file.read("attention_bias", attention)) ||
      failed(file.read("mlp_bias", model.mlpBias)))
    return failure();
  const bool isAttention = attention && !family.hasAttentionBias;
  if (isAttention || (model.mlpBias && !family.hasMlpBias))
    return file.error(isAttention ? "attention_bias" : "mlp_bias")
           << family.withArticle()
           << " has no such option; use model_type llama";
  model.queryBias = family.hasAttentionBias ? attention : family.queryBias;
  model.outputBias = attention && !family.has("attention_out_bias");
  if (family.has("qkv_bias") && failed(file.read("qkv_bias", model.queryBias)))
    return failure();
  return success(!family.has("attention_out_bias") ||
                 succeeded(file.read("attention_out_bias", model.outputBias)));
}

/// Reads the factors that a family's keys give.
static LogicalResult readFactors(const ConfigFile &file, Decoder &model) {
  constexpr Bounds<double> legal = {1e-9, 1e9};
  const DecoderFamily &family = *model.family;
  double division = 1, scoreSize = 256;
  if (family.has("attention_multiplier"))
    model.attentionScale = 1;
  const struct {
    StringRef key;
    double &value;
    Bounds<double> legal;
  } factors[] = {
      {"embedding_multiplier", model.embeddingScale, legal},
      {"residual_multiplier", model.residualScale, legal},
      {"attention_multiplier", model.attentionScale, legal},
      {"query_pre_attn_scalar", scoreSize, legal},
      {"logits_scaling", division, legal},
      {"final_logit_softcapping", model.logitCap, legal},
      {"residual_dropout", model.residualDropout, {0, 1}},
  };
  for (const auto &factor : factors)
    if (family.has(factor.key) &&
        failed(file.read(factor.key, factor.value, factor.legal)))
      return failure();
  model.logitScale = 1 / division;
  if (family.has("query_pre_attn_scalar"))
    model.attentionScale = 1 / std::sqrt(scoreSize);
  if (family.scalesEmbeddings)
    model.embeddingScale = std::sqrt(static_cast<double>(model.hidden));
  return success();
}

static LogicalResult readOptions(const ConfigFile &file, Decoder &model) {
  if (failed(readFunction(file, model)) ||
      failed(file.read("rms_norm_eps", model.epsilon, {0, 1})) ||
      failed(
          file.read("initializer_range", model.initializerRange, {0, 1000})) ||
      failed(file.read("attention_dropout", model.attentionDropout, {0, 1})) ||
      failed(file.read("tie_word_embeddings", model.tied)))
    return failure();
  return success(succeeded(readBiases(file, model)) &&
                 succeeded(readFactors(file, model)));
}

//===----------------------------------------------------------------------===//
// Experts
//===----------------------------------------------------------------------===//

static constexpr int64_t kMaximalExperts = 4096;

static LogicalResult checkExperts(const ConfigFile &file, const Decoder &model,
                                  StringRef countKey) {
  const Experts &experts = *model.experts;
  if (experts.perToken > experts.count)
    return file.error("num_experts_per_tok")
           << "'num_experts_per_tok' = " << experts.perToken
           << " is more than '" << countKey << "' = " << experts.count
           << "; a token goes to at most all experts";
  double jitter = 0;
  if (!model.family->has("router_jitter_noise"))
    return success();
  if (failed(file.read("router_jitter_noise", jitter, {0, 1})))
    return failure();
  if (jitter != 0)
    return file.error("router_jitter_noise")
           << "'router_jitter_noise' = " << jitter
           << " is not supported; use 0: tokens reach the router unchanged";
  return success();
}

static LogicalResult readExperts(const ConfigFile &file, Decoder &model) {
  const DecoderFamily &family = *model.family;
  if (!family.experts)
    return success();
  Experts experts = *family.experts;
  if (experts.inner == 0)
    experts.inner = model.inner;
  const StringRef countKey =
      family.has("num_experts") ? "num_experts" : "num_local_experts";
  bool balances = false;
  if (failed(file.read(countKey, experts.count, {1, kMaximalExperts})) ||
      failed(file.read("num_experts_per_tok", experts.perToken,
                       {1, kMaximalExperts})) ||
      failed(file.read("output_router_logits", balances)) ||
      failed(file.read("router_aux_loss_coef", experts.balance, {0, 1000})) ||
      (family.has("moe_intermediate_size") &&
       failed(file.read("moe_intermediate_size", experts.inner,
                        {1, kMaximalSize}))) ||
      (family.has("shared_expert_intermediate_size") &&
       failed(file.read("shared_expert_intermediate_size", experts.sharedInner,
                        {1, kMaximalSize}))) ||
      (family.has("norm_topk_prob") &&
       failed(file.read("norm_topk_prob", experts.normalizes))))
    return failure();
  if (!balances)
    experts.balance = 0;
  model.experts = experts;
  return checkExperts(file, model, countKey);
}

//===----------------------------------------------------------------------===//
// All keys
//===----------------------------------------------------------------------===//

static LogicalResult checkNames(const ConfigFile &file,
                                const DecoderFamily &family) {
  const std::string training = family.withArticle();
  const std::string classes[] = {(family.classes + "ForCausalLM").str(),
                                 (family.classes + "Model").str()};
  const StringRef architectures[] = {classes[0], classes[1]};
  SmallVector<llvm::StringLiteral> optional;
  llvm::append_range(optional, kOptional);
  llvm::append_range(optional, family.keys);
  return checkKeys(file, {family.name,
                          training,
                          kRequired,
                          optional,
                          kHarmless,
                          {},
                          architectures,
                          kPositions});
}

FailureOr<Decoder> tessera::readDecoder(const ConfigFile &file,
                                        const DecoderFamily &family) {
  if (failed(checkNames(file, family)))
    return failure();
  Decoder model;
  model.family = &family;
  model.positions = family.positions;
  model.keyHeads = family.keyHeads;
  model.headSize = family.headSize;
  model.epsilon = family.epsilon;
  model.padding = family.padding;
  model.tied = family.tied;
  model.attentionDropout = family.attentionDropout;
  model.residualDropout = family.residualDropout;
  int64_t layers = 0;
  if (failed(readSizes(file, layers, model)) ||
      failed(readOptions(file, model)) || failed(readExperts(file, model)) ||
      failed(readLayers(file, model, layers)))
    return failure();
  file.forget("max_position_embeddings"); // positions are not learnt
  return model;
}
