//===- DecoderFamilies.cpp - the table of families of decoders ------------===//
// Each row begins as LLaMA and says what differs.
//===----------------------------------------------------------------------===//

#include "lib/Import/DecoderFamily.h"
#include <vector>

using namespace tessera;

static constexpr llvm::StringLiteral kWindowKeys[] = {
    "sliding_window", "use_sliding_window", "max_window_layers", "layer_types"};
static constexpr llvm::StringLiteral kMixtralKeys[] = {
    "sliding_window",       "use_sliding_window",  "max_window_layers",
    "num_local_experts",    "num_experts_per_tok", "output_router_logits",
    "router_aux_loss_coef", "router_jitter_noise"};
static constexpr llvm::StringLiteral kQwen2ExpertKeys[] = {
    "sliding_window",
    "use_sliding_window",
    "max_window_layers",
    "num_experts",
    "num_experts_per_tok",
    "output_router_logits",
    "router_aux_loss_coef",
    "norm_topk_prob",
    "decoder_sparse_step",
    "moe_intermediate_size",
    "mlp_only_layers",
    "shared_expert_intermediate_size",
    "qkv_bias"};
static constexpr llvm::StringLiteral kQwen3ExpertKeys[] = {
    "sliding_window",       "use_sliding_window",   "max_window_layers",
    "num_experts",          "num_experts_per_tok",  "output_router_logits",
    "router_aux_loss_coef", "norm_topk_prob",       "decoder_sparse_step",
    "mlp_only_layers",      "moe_intermediate_size"};
static constexpr llvm::StringLiteral kOlmoeKeys[] = {
    "num_experts", "num_experts_per_tok", "output_router_logits",
    "router_aux_loss_coef", "norm_topk_prob"};
static constexpr llvm::StringLiteral kSmolLM3Keys[] = {
    "sliding_window", "use_sliding_window", "layer_types", "no_rope_layers",
    "no_rope_layer_interval"};
static constexpr llvm::StringLiteral kGraniteKeys[] = {
    "embedding_multiplier", "logits_scaling", "residual_multiplier",
    "attention_multiplier"};
static constexpr llvm::StringLiteral kSeedOssKeys[] = {"attention_out_bias",
                                                       "residual_dropout"};
static constexpr llvm::StringLiteral kGemmaKeys[] = {"hidden_activation"};
static constexpr llvm::StringLiteral kGemma3Keys[] = {
    "hidden_activation",       "query_pre_attn_scalar",
    "sliding_window",          "layer_types",
    "sliding_window_pattern",  "_sliding_window_pattern",
    "final_logit_softcapping", "rope_local_base_freq"};

static constexpr KeyAlias kMixtralAliases[] = {
    {"num_experts", "num_local_experts"}};
static constexpr KeyAlias kQwenExpertAliases[] = {
    {"num_local_experts", "num_experts"}};

static DecoderFamily row(llvm::StringRef type, llvm::StringRef name,
                         llvm::StringRef classes) {
  DecoderFamily family;
  family.type = type;
  family.name = name;
  family.classes = classes;
  return family;
}

//===----------------------------------------------------------------------===//
// Touvron et al. 2023 and relatives that differ in constants
//===----------------------------------------------------------------------===//

static DecoderFamily llama() {
  DecoderFamily f = row("llama", "LLaMA", "Llama");
  f.hasAttentionBias = f.hasMlpBias = true;
  return f;
}

static DecoderFamily mistral() {
  DecoderFamily f = row("mistral", "Mistral", "Mistral");
  f.positions = 131072;
  f.keyHeads = 8;
  f.keys = kWindowKeys;
  f.window = WindowRule::Default;
  return f;
}

static DecoderFamily qwen2() {
  DecoderFamily f = row("qwen2", "Qwen2", "Qwen2");
  f.positions = 32768;
  f.keyHeads = 32;
  f.queryBias = true;
  f.keys = kWindowKeys;
  f.window = WindowRule::Asked;
  f.firstWindow = 28;
  return f;
}

static DecoderFamily qwen3() {
  DecoderFamily f = qwen2();
  f.type = "qwen3";
  f.name = f.classes = "Qwen3";
  f.headSize = 128;
  f.queryBias = false;
  f.hasAttentionBias = true;
  f.headNorm = HeadNorm::EachHead;
  return f;
}

static DecoderFamily seedOss() {
  DecoderFamily f = row("seed_oss", "Seed-OSS", "SeedOss");
  f.positions = 524288;
  f.keyHeads = 8;
  f.headSize = 128;
  f.padding = 1;
  f.keys = kSeedOssKeys;
  f.hasAttentionBias = f.hasMlpBias = true;
  f.queryBias = true;
  f.attentionDropout = f.residualDropout = 0.1;
  return f;
}

//===----------------------------------------------------------------------===//
// Other norms, positions and factors
//===----------------------------------------------------------------------===//

static DecoderFamily smolLM3() {
  DecoderFamily f = row("smollm3", "SmolLM3", "SmolLM3");
  f.positions = 32768;
  f.keyHeads = 4;
  f.theta = 2e6;
  f.padding = 128004;
  f.tied = true;
  f.keys = kSmolLM3Keys;
  f.hasAttentionBias = f.hasMlpBias = true;
  f.window = WindowRule::Asked;
  f.windowSize = 0;
  f.unrotatedEvery = 4;
  return f;
}

/// Returns the row of OLMo et al. 2025: norms stand behind attention and MLP,
/// and those of queries and keys go over all heads.
static DecoderFamily olmo2() {
  DecoderFamily f = row("olmo2", "OLMo-2", "Olmo2");
  f.epsilon = 1e-5;
  f.padding = 1;
  f.hasAttentionBias = true;
  f.headNorm = HeadNorm::AllHeads;
  f.names.inputNorm = f.names.mlpNorm = "";
  f.names.attentionNorm = "post_attention_layernorm";
  f.names.outputNorm = "post_feedforward_layernorm";
  return f;
}

static DecoderFamily granite() {
  DecoderFamily f = row("granite", "Granite", "Granite");
  f.keys = kGraniteKeys;
  f.hasAttentionBias = f.hasMlpBias = true;
  return f;
}

//===----------------------------------------------------------------------===//
// Gemma Team 2024, 2025
//===----------------------------------------------------------------------===//

static DecoderFamily gemma() {
  DecoderFamily f = row("gemma", "Gemma", "Gemma");
  f.positions = 8192;
  f.keyHeads = 16;
  f.headSize = 256;
  f.padding = 0;
  f.tied = true;
  f.keys = kGemmaKeys;
  f.hasAttentionBias = true;
  f.activation = "gelu_pytorch_tanh";
  f.geluIsTanh = true;
  f.normsHoldLessOne = true;
  f.scalesEmbeddings = true;
  return f;
}

static DecoderFamily gemma3() {
  DecoderFamily f = gemma();
  f.type = "gemma3_text";
  f.name = "Gemma 3";
  f.classes = "Gemma3";
  f.positions = 131072;
  f.keyHeads = 4;
  f.theta = 1e6;
  f.keys = kGemma3Keys;
  f.activationKey = "hidden_activation";
  f.geluIsTanh = false;
  f.headNorm = HeadNorm::EachHead;
  f.names.attentionNorm = "post_attention_layernorm";
  f.names.mlpNorm = "pre_feedforward_layernorm";
  f.names.outputNorm = "post_feedforward_layernorm";
  f.window = WindowRule::Default;
  f.windowPattern = 6;
  return f;
}

//===----------------------------------------------------------------------===//
// Mixtures of experts
//===----------------------------------------------------------------------===//

/// Returns the row of Jiang et al. 2024.
static DecoderFamily mixtral() {
  DecoderFamily f = row("mixtral", "Mixtral", "Mixtral");
  f.positions = 131072;
  f.keyHeads = 8;
  f.theta = 1e6;
  f.epsilon = 1e-5;
  f.keys = kMixtralKeys;
  f.window = WindowRule::Given;
  f.experts = Experts();
  f.aliases = kMixtralAliases;
  f.names.mixture = "block_sparse_moe";
  f.names.expertGate = "w1";
  f.names.expertUp = "w3";
  f.names.expertDown = "w2";
  return f;
}

static DecoderFamily qwen2Moe() {
  DecoderFamily f = qwen2();
  f.type = "qwen2_moe";
  f.name = "Qwen2-MoE";
  f.classes = "Qwen2Moe";
  f.keyHeads = 16;
  f.keys = kQwen2ExpertKeys;
  f.window = WindowRule::Unused;
  f.experts = Experts{60, 4, 1408, /*normalizes=*/false, 5632};
  f.aliases = kQwenExpertAliases;
  return f;
}

static DecoderFamily qwen3Moe() {
  DecoderFamily f = qwen2Moe();
  f.type = "qwen3_moe";
  f.name = "Qwen3-MoE";
  f.classes = "Qwen3Moe";
  f.keys = kQwen3ExpertKeys;
  f.keyHeads = 4;
  f.queryBias = false;
  f.hasAttentionBias = true;
  f.headNorm = HeadNorm::EachHead;
  f.experts = Experts{128, 8, 768, /*normalizes=*/false};
  return f;
}

/// Returns the row of Muennighoff et al. 2024.
static DecoderFamily olmoe() {
  DecoderFamily f = row("olmoe", "OLMoE", "Olmoe");
  f.positions = 4096;
  f.epsilon = 1e-5;
  f.padding = 1;
  f.keys = kOlmoeKeys;
  f.hasAttentionBias = true;
  f.headNorm = HeadNorm::AllHeads;
  f.experts = Experts{64, 8, 0, /*normalizes=*/false, 0, 0.01};
  f.aliases = kQwenExpertAliases;
  return f;
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

llvm::ArrayRef<DecoderFamily> tessera::decoderFamilies() {
  static const std::vector<DecoderFamily> families = {
      llama(),   mistral(),  qwen2(),    qwen3(), seedOss(),
      smolLM3(), olmo2(),    granite(),  gemma(), gemma3(),
      mixtral(), qwen2Moe(), qwen3Moe(), olmoe()};
  return families;
}

std::string DecoderFamily::withArticle() const {
  const bool isVowel = llvm::StringRef("AEIOU").contains(name.front());
  return ((isVowel ? "an " : "a ") + name).str();
}

const DecoderFamily *tessera::findDecoderFamily(llvm::StringRef type) {
  const auto *found =
      llvm::find_if(decoderFamilies(), [&](const DecoderFamily &family) {
        return family.type == type;
      });
  return found == decoderFamilies().end() ? nullptr : found;
}
