#include "runtime/cuda/attention/Attention.h"

#include "runtime/cpu/AttentionProblem.h"
#include "runtime/cuda/Check.h"
#include "tessera/abi.h"

namespace tessera::cuda {

AttentionCall decodeAttentionCall(const int64_t *args) {
  AttentionProblem problem;
  std::string error;
  if (int32_t code = decodeAttention(args, &problem, &error))
    fail(static_cast<tsr_status>(code), error);
  AttentionCall call{problem, nullptr};
  if (const char *why = checkAttention(call))
    fail(TSR_UNSUPPORTED, why);
  return call;
}

size_t workspaceOf(const AttentionCall &call, Direction direction) {
  return attentionWorkspace(call, direction == Direction::Backward);
}

void runAttention(const AttentionCall &call, Direction direction,
                  void *const *b, void *workspace, cudaStream_t stream) {
  const bool biased = call.buckets != 0,
             forward = direction == Direction::Forward;
  void *table = biased ? b[forward ? 5 : 9] : nullptr;
  const char *why = forward ? checkAttentionSlice(call) : nullptr;
  if (why)
    fail(TSR_INVALID_ARGUMENT, why);
  void *dTable = biased && !forward ? b[10] : nullptr;
  void *const *segments = b + (forward ? 5 + biased : 9 + 2 * biased);
  const void *querySegments = call.segments ? segments[0] : nullptr,
             *keySegments = call.segments ? segments[1] : nullptr;
  cudaError_t error =
      forward
          ? attentionForward(call, b[0], b[1], b[2], b[3], b[4], table,
                             querySegments, keySegments, workspace, stream)
          : attentionBackward(call, b[0], b[1], b[2], b[3], b[4], b[5], b[6],
                              b[7], b[8], table, dTable, querySegments,
                              keySegments, workspace, stream);
  check(error, "attention");
}

} // namespace tessera::cuda
