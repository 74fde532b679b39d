//===- CpuEntries.h - The compute entries of the CPU device -----*- C++ -*-===//
// The seam between the runtime's core and its CPU kernels. The argument lists
// are those of tessera/abi.h. Each function is called from a rank's thread,
// several rank threads at once, each with its own team of threads
// (ThreadTeam.h).
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CPU_CPUENTRIES_H
#define TESSERA_RUNTIME_CPU_CPUENTRIES_H

#include "tessera/abi.h"

#include <cstdint>
#include <string>

namespace tessera {

/// C = op(A) op(B) (+ C) (+ bias); see TSR_GEMM_* in abi.h. Buffers: a, b, c,
/// bias (may be null). Types: f32, bf16 (into f32 or bf16), f64.
/// Returns 0, or non-zero with the reason in *error. Never throws.
int32_t cpuGemm(int threads, void *const *buffers, const int64_t *args,
                std::string *error);

/// Computes attention forward; see TSR_ATTENTION_* in abi.h. Buffers: q, k, v,
/// o, lse. The result has the same bits for every number of threads. Returns 0,
/// or non-zero with the reason in *error. Never throws.
int32_t cpuAttention(int threads, void *const *buffers, const int64_t *args,
                     std::string *error);

/// Computes attention backward. Buffers: d_o, q, k, v, o, lse, d_q, d_k, d_v.
/// The result has the same bits for every number of threads. Returns 0, or
/// non-zero with the reason in *error. Never throws.
int32_t cpuAttentionBackward(int threads, void *const *buffers,
                             const int64_t *args, std::string *error);

/// table[ids[r] - start, :] += src[r, :]; see TSR_SCATTER_* in abi.h. Rows are
/// added in order, so the result has the same bits for every number of threads.
/// Returns 0, or non-zero with the reason in *error. Never throws.
int32_t cpuScatterAdd(int threads, void *const *buffers, const int64_t *args,
                      std::string *error);

/// Compute the two above with their sums cut into chunks; see TSR_CHUNKED_* in
/// abi.h. The result has the same bits whatever else is computed at once: rows
/// and columns, threads. Returns 0, or non-zero with the reason in *error.
/// Never throws.
int32_t cpuChunkedGemm(int threads, void *const *buffers, const int64_t *args,
                       std::string *error);
int32_t cpuChunkedScatterAdd(int threads, void *const *buffers,
                             const int64_t *args, std::string *error);

/// Appends rows to caches, and computes attention over these; see TSR_APPEND_*
/// and TSR_CACHED_ATTENTION_* in abi.h. A row's result has the same bits for
/// every number of threads and whatever the other rows are. Returns 0, or
/// non-zero with the reason in *error. Never throws.
int32_t cpuAppend(int threads, void *const *buffers, const int64_t *args,
                  std::string *error);
int32_t cpuCachedAttention(int threads, void *const *buffers,
                           const int64_t *args, std::string *error);

/// Partial means of several ranks, merged; see TSR_MERGE_MEANS_* in abi.h. The
/// result has the same bits for every number of threads. Returns 0, or non-zero
/// with the reason in *error. Never throws.
int32_t cpuMergeMeans(int threads, void *const *buffers, const int64_t *args,
                      std::string *error);

/// Applies penalties to logits, and finds candidates of them; see
/// TSR_PENALIZE_*, TSR_TOP_* and TSR_MERGE_TOP_* in abi.h. Results have the
/// same bits for every number of threads. Returns 0, or non-zero with the
/// reason in *error. Never throws.
int32_t cpuPenalize(int threads, void *const *buffers, const int64_t *args,
                    std::string *error);
int32_t cpuTop(int threads, void *const *buffers, const int64_t *args,
               std::string *error);
int32_t cpuMergeTop(int threads, void *const *buffers, const int64_t *args,
                    std::string *error);

/// Computes mixtures of experts; see TSR_ROUTED_* in abi.h. The result has the
/// same bits for every number of threads, but those of products that oneDNN
/// computes. Returns 0, or non-zero with the reason in *error. Never throws.
int32_t cpuRouted(int threads, void *const *buffers, const int64_t *args,
                  std::string *error);

/// Runs `kernel` over [0, count) in at most `threads` contiguous ranges whose
/// bounds are multiples of `grain` (the last may end at count).
void cpuLaunch(int threads, tsr_abi_kernel kernel, void *const *buffers,
               const int64_t *scalars, int64_t count, int64_t grain);

} // namespace tessera

#endif // TESSERA_RUNTIME_CPU_CPUENTRIES_H
