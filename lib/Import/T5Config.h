//===- T5Config.h - a checked T5 config -------------------------*- C++ -*-===//

#ifndef TESSERA_LIB_IMPORT_T5CONFIG_H
#define TESSERA_LIB_IMPORT_T5CONFIG_H

#include "lib/Import/ConfigFile.h"
#include "tessera/Dialect/NN/NN.h"

namespace tessera {

/// The model; names and defaults are those of Hugging Face's T5Config.
struct T5Config {
  int64_t vocabulary = 0, hidden = 0, headSize = 0, inner = 0, heads = 0;
  int64_t encoderLayers = 0, decoderLayers = 0;
  /// Positions are relative: only the length of a sequence by default.
  int64_t positions = 512;
  int64_t buckets = 32, maxDistance = 128;
  double dropout = 0.1, epsilon = 1e-6, initializerFactor = 1;
  nn::Function activation = nn::Function::Relu;
  bool gated = false;
  /// One table embeds and predicts; then the decoder's output is scaled by
  /// hidden^-0.5, unless the config says otherwise.
  bool tied = true, scalesOutput = true;
  int64_t padToken = 0, startToken = 0;

  int64_t headsSize() const { return heads * headSize; }
};

/// Reads a config. With `forEncoding` it may be that of an encoder alone, whose
/// decoder is not used.
mlir::FailureOr<T5Config> readT5(const ConfigFile &file, bool forEncoding);

} // namespace tessera

#endif // TESSERA_LIB_IMPORT_T5CONFIG_H
