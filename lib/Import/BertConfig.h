//===- BertConfig.h - a BERT as its config describes it ---------*- C++ -*-===//

#ifndef TESSERA_LIB_IMPORT_BERTCONFIG_H
#define TESSERA_LIB_IMPORT_BERTCONFIG_H

#include "lib/Import/ConfigFile.h"
#include "tessera/Dialect/NN/NN.h"

namespace tessera {

/// The model; names and defaults are those of Hugging Face's BertConfig.
struct BertConfig {
  int64_t vocabulary = 0, positions = 512, hidden = 0, layers = 0, heads = 0;
  int64_t inner = 0, tokenTypes = 2;
  /// Stands for a token that is to be predicted; an encoder may have none.
  std::optional<int64_t> maskToken;
  /// Its row of the table of words has no gradient.
  std::optional<int64_t> padding = 0;
  nn::Function activation = nn::Function::Gelu;
  double hiddenDropout = 0.1, attentionDropout = 0.1;
  double epsilon = 1e-12, initializerRange = 0.02;
  bool tied = true;

  int64_t headSize() const { return hidden / heads; }
};

/// Reads a config. Fails if no mask token is known, unless the model encodes
/// only (`forEncoding`).
mlir::FailureOr<BertConfig> readBert(const ConfigFile &file, bool forEncoding);

} // namespace tessera

#endif // TESSERA_LIB_IMPORT_BERTCONFIG_H
