//===- Rope.h - the rotation frequencies of a config ------------*- C++ -*-===//

#ifndef TESSERA_LIB_IMPORT_ROPE_H
#define TESSERA_LIB_IMPORT_ROPE_H

#include "lib/Import/ConfigFile.h"
#include <vector>

namespace tessera {

/// Rotations of queries and keys by position; names are those of Hugging Face's
/// rope_parameters (before version 5: rope_scaling and rope_theta).
struct RopeConfig {
  enum Kind { Default, Linear, Llama3, Yarn } kind = Default;
  double theta = 10000, factor = 1;
  double lowFrequencyFactor = 1, highFrequencyFactor = 4;
  /// Positions that the unscaled model was trained on.
  double originalPositions = 0;
  /// Yarn's scale. 0: computed from the factor.
  double attentionFactor = 0;
  double betaFast = 32, betaSlow = 1, mscale = 0, mscaleAllDim = 0;
  bool truncates = true;

  /// Radians per position of each pair of a head's elements.
  std::vector<double> frequencies(int64_t headSize) const;
  /// Returns the factor of cosines and sines.
  double scale() const;
};

/// `positions` is max_position_embeddings.
mlir::FailureOr<RopeConfig> readRope(const ConfigFile &file, int64_t positions,
                                     double defaultTheta = 10000);

/// The rotations of layers that see all keys, and of those with a window.
struct LayerRotations {
  RopeConfig full, sliding;
};

/// Reads both: `rope_local_base_freq` is that of layers with a window, and
/// `rope_parameters` may hold an object for each kind of layer.
mlir::FailureOr<LayerRotations> readLayerRotations(const ConfigFile &file,
                                                   int64_t positions,
                                                   double defaultTheta);

} // namespace tessera

#endif // TESSERA_LIB_IMPORT_ROPE_H
