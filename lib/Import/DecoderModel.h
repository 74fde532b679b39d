//===- DecoderModel.h - the parts of a decoder ------------------*- C++ -*-===//
// A decoder of LLaMA's kind is a description: each part that differs between
// families is a value here, which a config gives or a row of
// DecoderFamilies.cpp fixes. No code outside that table asks for a family.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_IMPORT_DECODERMODEL_H
#define TESSERA_LIB_IMPORT_DECODERMODEL_H

#include "lib/Import/DecoderFamily.h"
#include "lib/Import/Rope.h"
#include "tessera/Dialect/NN/NN.h"

namespace tessera {

/// Holds the choices that layers of one model make apart.
struct DecoderLayer {
  /// The number of keys that a query sees, itself and those before it; 0: all.
  int64_t window = 0;
  /// The number of its rotation; nullopt: positions are not encoded.
  std::optional<size_t> rotation = 0;
  bool isMixture = false;
};

struct Decoder {
  const DecoderFamily *family = nullptr;
  int64_t vocabulary = 0, positions = 0, hidden = 0, inner = 0;
  int64_t heads = 0, keyHeads = 0, headSize = 0;
  double attentionDropout = 0, residualDropout = 0, epsilon = 1e-6;
  double initializerRange = 0.02;
  bool queryBias = false, outputBias = false, mlpBias = false, tied = false;
  nn::Function activation = nn::Function::Silu;
  /// Factors of embeddings, of what a block adds to the residual stream, of
  /// scores and of logits.
  double embeddingScale = 1, residualScale = 1, attentionScale = 0;
  double logitScale = 1;
  /// Logits become cap * tanh(logits / cap); 0: they are not limited.
  double logitCap = 0;
  std::vector<RopeConfig> rotations;
  /// The token whose row of the embeddings has no gradient.
  std::optional<int64_t> padding;
  std::optional<Experts> experts;
  std::vector<DecoderLayer> layers;

  int64_t queriesPerKey() const { return heads / keyHeads; }
};

mlir::FailureOr<Decoder> readDecoder(const ConfigFile &file,
                                     const DecoderFamily &family);

/// Reads the keys about single layers: windows, rotations and experts.
mlir::LogicalResult readLayers(const ConfigFile &file, Decoder &model,
                               int64_t layers);

} // namespace tessera

#endif // TESSERA_LIB_IMPORT_DECODERMODEL_H
