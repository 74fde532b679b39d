//===- AttentionGraph.h - attention as a graph for cuDNN --------*- C++ -*-===//
// The graphs are those that cuDNN's fused attention engines know (NVIDIA cuDNN
// backend documentation, "Fused Flash Attention fprop" and "bprop"): their
// order of operations matters as much as their meaning.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CUDA_CUDNN_ATTENTIONGRAPH_H
#define TESSERA_RUNTIME_CUDA_CUDNN_ATTENTIONGRAPH_H

#include "runtime/cuda/attention/AttentionCall.h"
#include "runtime/cuda/cudnn/GraphBuilder.h"

namespace tessera::cuda {

/// Ids of the buffers.
enum AttentionTensor : int64_t {
  GraphQ = 1,
  GraphK,
  GraphV,
  GraphO,
  GraphLse,
  GraphDO,
  GraphDQ,
  GraphDK,
  GraphDV,
  GraphDelta, ///< f32 [batch, heads, seqQ, 1] in the workspace
};

/// Returns null, or why cuDNN does not compute this call: what the graphs leave
/// out.
const char *checkGraphAttention(const AttentionCall &call);

/// O and the log-sum-exp of scaled scores. Throws as Descriptor does.
void buildForward(GraphBuilder &graph, const AttentionCall &call);

/// Builds d_q, d_k, d_v from what forward gave. The scores' gradient is stored
/// in cuDNN's workspace, so that no sum is made by atomic additions.
void buildBackward(GraphBuilder &graph, const AttentionCall &call);

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_CUDNN_ATTENTIONGRAPH_H
