//===- GPT2.h - a GPT-2 as its config describes it --------------*- C++ -*-===//

#ifndef TESSERA_LIB_IMPORT_GPT2_H
#define TESSERA_LIB_IMPORT_GPT2_H

#include "lib/Import/ConfigFile.h"
#include "tessera/Dialect/NN/NN.h"

namespace tessera {

/// The model; names and defaults are those of Hugging Face's GPT2Config.
struct GPT2Config {
  int64_t vocabulary = 0, positions = 0, hidden = 0, layers = 0, heads = 0;
  int64_t inner = 0;
  nn::Function activation = nn::Function::GeluTanh;
  double residualDropout = 0.1, embeddingDropout = 0.1, attentionDropout = 0.1;
  double epsilon = 1e-5, initializerRange = 0.02;
  bool scaleAttention = true, scaleByLayer = false, tied = true;

  int64_t headSize() const { return hidden / heads; }
};

mlir::FailureOr<GPT2Config> readGPT2(const ConfigFile &file);

} // namespace tessera

#endif // TESSERA_LIB_IMPORT_GPT2_H
