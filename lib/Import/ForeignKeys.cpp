//===- ForeignKeys.cpp - keys by which models differ from ours ------------===//

#include "lib/Import/ForeignKeys.h"

using namespace mlir;
using namespace tessera;

/// Names the value that asks for nothing, beside null, false and what is empty.
enum class Neutral {
  None,
  Zero,
  One,
  True,
  Causal,
  Bidirectional,
  Positions,
  Full
};

/// A row is about the keys that contain the word. The first row that fits
/// counts.
struct ForeignKey {
  llvm::StringLiteral word;
  Neutral neutral = Neutral::Zero;
};

static constexpr ForeignKey kForeignKeys[] = {
    // Code and settings beside the file.
    {"auto_map"},
    {"per_layer_config"},
    {"quantization"},
    {"compression_config"},
    {"pruned_heads"},
    {"text_config"},
    {"vision_config"},
    {"audio_config"},
    // The kind of model.
    {"is_encoder_decoder"},
    {"add_cross_attention"},
    {"cross_attention_hidden_size"},
    {"tie_encoder_decoder"},
    {"is_causal", Neutral::Causal},
    {"bidirectional", Neutral::Bidirectional},
    // Attention.
    {"layer_types", Neutral::Full},
    {"sliding_window", Neutral::Zero},
    {"attention_window", Neutral::Zero},
    {"local_attention", Neutral::Zero},
    {"global_attn", Neutral::Zero},
    {"attention_chunk", Neutral::Zero},
    {"attention_type", Neutral::None},
    {"attention_sink", Neutral::Zero},
    {"alibi", Neutral::Zero},
    {"relative_attention", Neutral::Zero},
    {"max_relative_positions", Neutral::Zero},
    {"sinusoidal", Neutral::Zero},
    {"position_embedding_type", Neutral::Positions},
    {"position_encoding", Neutral::Positions},
    {"rotary", Neutral::One},
    {"rope", Neutral::One},
    {"nope_", Neutral::Zero},
    {"clip_qkv", Neutral::Zero},
    {"qk_norm", Neutral::Zero},
    {"qk_layernorm", Neutral::Zero},
    {"qk_layer_norm", Neutral::Zero},
    {"q_norm", Neutral::Zero},
    {"k_norm", Neutral::Zero},
    {"qk_l2", Neutral::Zero},
    {"lora_rank", Neutral::Zero},
    {"multi_query", Neutral::Zero},
    {"k_eq_v", Neutral::Zero},
    {"kv_shared", Neutral::Zero},
    {"query_pre_attn_scalar", Neutral::None},
    {"scale_attn_weights", Neutral::True},
    {"scale_attn", Neutral::Zero},
    // Scales and limits of values.
    {"softcap", Neutral::Zero},
    {"multiplier", Neutral::One},
    {"logit_scale", Neutral::One},
    {"logits_scal", Neutral::One},
    {"attention_scal", Neutral::One},
    {"attn_scal", Neutral::One},
    {"attn_temperature", Neutral::Zero},
    {"softmax_scale", Neutral::One},
    {"scale_emb", Neutral::One},
    {"scale_depth", Neutral::None},
    {"dim_model_base", Neutral::None},
    {"embed_scale", Neutral::One},
    {"embedding_scale", Neutral::One},
    {"rescale_embeddings", Neutral::Zero},
    {"scale_embedding", Neutral::One},
    {"normalize_embedding", Neutral::Zero},
    {"residual_scale", Neutral::One},
    {"output_scale", Neutral::One},
    {"mup_", Neutral::One},
    {"swiglu_limit", Neutral::Zero},
    // Blocks.
    {"parallel_residual", Neutral::Zero},
    {"parallel_attn", Neutral::Zero},
    {"parallel_block", Neutral::Zero},
    {"post_layernorm", Neutral::Zero},
    {"post_norm", Neutral::Zero},
    {"sandwich_norm", Neutral::Zero},
    {"new_decoder_architecture", Neutral::Zero},
    {"lm_head_bias", Neutral::Zero},
    {"hidden_activation", Neutral::None},
    {"layerdrop", Neutral::Zero},
    // Experts, states.
    {"norm_topk_prob", Neutral::True},
    {"routed_scaling_factor", Neutral::One},
    {"expert", Neutral::Zero},
    {"moe_", Neutral::Zero},
    {"mamba", Neutral::Zero}};

static bool isAll(const llvm::json::Value &value, StringRef name) {
  const llvm::json::Array *list = value.getAsArray();
  return list && llvm::all_of(*list, [&](const llvm::json::Value &item) {
           return item.getAsString() == name;
         });
}

static bool isEmpty(const llvm::json::Value &value) {
  if (const llvm::json::Object *object = value.getAsObject())
    return object->empty();
  if (const llvm::json::Array *array = value.getAsArray())
    return array->empty();
  if (std::optional<StringRef> text = value.getAsString())
    return text->empty();
  return value.getAsNull().has_value();
}

static bool isNeutral(const ConfigKeys &keys, Neutral neutral,
                      const llvm::json::Value &value) {
  std::optional<bool> flag = value.getAsBoolean();
  std::optional<double> number = value.getAsNumber();
  switch (neutral) {
  case Neutral::None:
    return flag == false;
  case Neutral::Zero:
    return flag == false || number == 0.0;
  case Neutral::One:
    return flag == false || number == 1.0;
  case Neutral::True:
    return flag == true;
  case Neutral::Causal:
    return flag == keys.isCausal;
  case Neutral::Bidirectional:
    return flag == !keys.isCausal;
  case Neutral::Positions:
    return value.getAsString() &&
           llvm::is_contained(keys.positions, *value.getAsString());
  case Neutral::Full:
    return isAll(value, "full_attention");
  }
  llvm_unreachable("all are named");
}

std::optional<bool> tessera::asksForNothing(const ConfigKeys &keys,
                                            StringRef key,
                                            const llvm::json::Value &value) {
  for (const ForeignKey &row : kForeignKeys)
    if (key.contains(row.word))
      return isEmpty(value) || isNeutral(keys, row.neutral, value);
  return std::nullopt;
}
