//===- DecoderFamily.h - the table of families of decoders ------*- C++ -*-===//
// A row says by what a family differs from LLaMA: defaults of its config's
// keys, which keys it has, what its blocks are made of, and how files call the
// parts. Sources are Hugging Face's configuration_FAMILY.py and
// modeling_FAMILY.py.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_IMPORT_DECODERFAMILY_H
#define TESSERA_LIB_IMPORT_DECODERFAMILY_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace tessera {

/// Says which layers have a window of `sliding_window` keys.
enum class WindowRule {
  None,    ///< No layer; the family has no such key.
  Given,   ///< All if the key is there.
  Default, ///< All unless the key is null.
  Asked,   ///< Those from `max_window_layers` on, if `use_sliding_window` asks.
  Unused   ///< No layer; `use_sliding_window` is refused.
};

/// Norms of queries and keys, before they are rotated.
enum class HeadNorm {
  None,
  EachHead, ///< Over the elements of one head; heads share the weights.
  AllHeads  ///< Over the elements of all heads together.
};

/// Names of the parts of a layer in files; a layer has no norm without a name.
struct LayerNames {
  llvm::StringRef inputNorm = "input_layernorm";
  llvm::StringRef attentionNorm; ///< It stands behind attention.
  llvm::StringRef mlpNorm = "post_attention_layernorm";
  llvm::StringRef outputNorm; ///< It stands behind the MLP.
  llvm::StringRef mixture = "mlp";
  llvm::StringRef expertGate = "gate_proj", expertUp = "up_proj",
                  expertDown = "down_proj";
};

/// In a mixture each token goes to `perToken` of `count` experts.
struct Experts {
  int64_t count = 8, perToken = 2;
  int64_t inner = 0; ///< 0: that of the model.
  /// True if the gates of a token add up to 1, false if they are probabilities
  /// among all experts.
  bool normalizes = true;
  /// The size of the expert of all tokens, which has a gate; 0: there is none.
  int64_t sharedInner = 0;
  /// Factor of the load-balance loss; 0: there is none.
  double balance = 0.001;
};

/// Another name that a config may give a key (`attribute_map` of transformers).
struct KeyAlias {
  llvm::StringLiteral alias, key;
};

struct DecoderFamily {
  llvm::StringRef type;    ///< `model_type`
  llvm::StringRef name;    ///< In messages: "LLaMA".
  llvm::StringRef classes; ///< "Llama" of LlamaForCausalLM and LlamaModel.

  // Values where a config has none.
  int64_t positions = 2048;
  int64_t keyHeads = 0; ///< 0: one for each query head.
  int64_t headSize = 0; ///< 0: the hidden size divided by the heads.
  double epsilon = 1e-6, theta = 10000;
  std::optional<int64_t> padding;
  bool tied = false;
  double attentionDropout = 0, residualDropout = 0;

  // Keys of its own, beside those that LLaMA has.
  llvm::ArrayRef<llvm::StringLiteral> keys;
  bool hasAttentionBias = false; ///< The key `attention_bias` exists,
  bool hasMlpBias = false;       ///< and `mlp_bias`.
  llvm::StringRef activationKey = "hidden_act";
  llvm::StringRef activation = "silu";
  bool geluIsTanh = false; ///< "gelu" stands for its approximation by tanh.

  // Its blocks.
  bool normsHoldLessOne = false; ///< Files hold the weights of norms less 1.
  HeadNorm headNorm = HeadNorm::None;
  bool queryBias = false; ///< Queries, keys and values have biases.
  /// Embeddings are multiplied by the root of the hidden size.
  bool scalesEmbeddings = false;
  LayerNames names;

  // Windows and rotations.
  WindowRule window = WindowRule::None;
  int64_t windowSize = 4096; ///< `sliding_window` where it is absent; 0: none.
  int64_t firstWindow = 0;   ///< `max_window_layers` where it is absent.
  /// One of so many layers has no window; 0: all have it. The key
  /// `sliding_window_pattern` may give another number.
  int64_t windowPattern = 0;
  /// One of so many layers has no rotation; 0: all have one.
  int64_t unrotatedEvery = 0;

  /// The experts of a mixture whose config does not say otherwise.
  std::optional<Experts> experts;

  /// Other names of keys.
  llvm::ArrayRef<KeyAlias> aliases;

  bool has(llvm::StringRef key) const { return llvm::is_contained(keys, key); }
  /// Layers with a window have a rotation of their own.
  bool hasLocalRotation() const { return has("rope_local_base_freq"); }
  /// Returns "a LLaMA" or "an OLMoE".
  std::string withArticle() const;
};

/// Returns the row of a model type; null if there is none.
const DecoderFamily *findDecoderFamily(llvm::StringRef type);
llvm::ArrayRef<DecoderFamily> decoderFamilies();

} // namespace tessera

#endif // TESSERA_LIB_IMPORT_DECODERFAMILY_H
