//===- LlamaConfig.h - a LLaMA, Mistral, Qwen2, Mixtral by its config -----===//

#ifndef TESSERA_LIB_IMPORT_LLAMACONFIG_H
#define TESSERA_LIB_IMPORT_LLAMACONFIG_H

#include "lib/Import/Rope.h"

namespace tessera {

/// In a mixture each token goes to `perToken` of `count` experts.
struct Experts {
  int64_t count = 8, perToken = 2;
  /// Factor of the load-balance loss; 0: there is none.
  double balance = 0;
};

/// The model; names and defaults are those of Hugging Face's LlamaConfig,
/// MistralConfig, Qwen2Config and MixtralConfig.
struct LlamaConfig {
  std::string family; ///< "llama", "mistral", "qwen2" or "mixtral".
  int64_t vocabulary = 0, positions = 0, hidden = 0, layers = 0, inner = 0;
  int64_t heads = 0, keyHeads = 0, headSize = 0;
  double attentionDropout = 0, epsilon = 1e-6, initializerRange = 0.02;
  bool queryBias = false, outputBias = false, mlpBias = false, tied = false;
  RopeConfig rope;
  /// The token whose row of the embeddings has no gradient.
  std::optional<int64_t> padding;
  std::optional<Experts> experts;
  /// For each layer, the number of keys that a query sees, itself and those
  /// before it; 0: all of them.
  std::vector<int64_t> windows;

  int64_t queriesPerKey() const { return heads / keyHeads; }
};

mlir::FailureOr<LlamaConfig> readLlama(const ConfigFile &file);

} // namespace tessera

#endif // TESSERA_LIB_IMPORT_LLAMACONFIG_H
