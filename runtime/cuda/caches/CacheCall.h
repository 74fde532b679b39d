//===- CacheCall.h - Calls of append, cached_attention, .. ------*- C++ -*-===//
// Checks calls and makes their parameters, free of CUDA's headers so that it is
// tested anywhere. Semantics: TSR_APPEND_*, TSR_CACHED_ATTENTION_* and
// TSR_MERGE_MEANS_* in tessera/abi_arguments.h.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CUDA_CACHES_CACHECALL_H
#define TESSERA_RUNTIME_CUDA_CACHES_CACHECALL_H

#include "runtime/cpu/CacheProblem.h"
#include "runtime/cuda/caches/CacheParams.h"

#include <cstddef>

namespace tessera::cuda {

/// Return "", or why device 'cuda' cannot run the call.
std::string checkAppend(const AppendProblem &call);
std::string checkCachedAttention(const CacheProblem &call);
std::string checkMergeMeans(const MeansProblem &call);

/// Bytes of device memory, 16-byte aligned, that hold nothing between calls:
/// the means over parts of the positions.
size_t cachedAttentionWorkspace(const CacheProblem &call);

// Each requires that its check is "".
AppendParams makeAppendParams(const AppendProblem &call);
CachedAttentionParams makeCachedAttentionParams(const CacheProblem &call,
                                                void *workspace);
MeansParams makeMeansParams(const MeansProblem &call);

/// Returns the merge of the parts of an attention, if there are several.
MeansParams meansOf(const CachedAttentionParams &params);

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_CACHES_CACHECALL_H
