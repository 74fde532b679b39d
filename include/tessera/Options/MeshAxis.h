//===- MeshAxis.h - the axes that a mesh may have ---------------*- C++ -*-===//
// Programs name axes by text, options by MeshAxis; both come from this table.
// It needs no MLIR.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_OPTIONS_MESHAXIS_H
#define TESSERA_OPTIONS_MESHAXIS_H

#include "tessera/Options/Names.h"

namespace tessera {

inline constexpr char kPipelineAxis[] = "pp"; ///< Splits the layers.
/// Splits the batch around `dp`: ZeRO splits nothing over it.
inline constexpr char kReplicaAxis[] = "dp_replicate";
inline constexpr char kDataAxis[] = "dp";    ///< Splits the batch.
inline constexpr char kContextAxis[] = "cp"; ///< Splits the sequence.
inline constexpr char kExpertAxis[] = "ep";  ///< Splits experts and the batch.
inline constexpr char kTensorAxis[] = "tp";  ///< Splits heads and features.

/// The axes that ZeRO splits state over: their ranks hold the same parameters
/// and see different tokens.
inline constexpr const char *kZeroAxes[] = {kDataAxis, kContextAxis};

enum class MeshAxis { Pipeline, Replica, Data, Context, Expert, Tensor };

template <> struct Names<MeshAxis> {
  static constexpr Name<MeshAxis> table[] = {
      {MeshAxis::Pipeline, kPipelineAxis}, {MeshAxis::Replica, kReplicaAxis},
      {MeshAxis::Data, kDataAxis},         {MeshAxis::Context, kContextAxis},
      {MeshAxis::Expert, kExpertAxis},     {MeshAxis::Tensor, kTensorAxis},
  };
};

} // namespace tessera

#endif // TESSERA_OPTIONS_MESHAXIS_H
