#include "runtime/cuda/step/Call.h"

#include "runtime/cpu/RoutedProblem.h"

namespace tessera::cuda {

Arity arityOf(const Call &call) {
  switch (call.entry) {
  case TSR_ENTRY_LAUNCH:
    return {1 + kernelOf(call.buffers).buffers, TSR_LAUNCH_SCALARS};
  case TSR_ENTRY_GEMM:
    return {6, TSR_GEMM_ARGS};
  case TSR_ENTRY_ATTENTION: // with biases also their table
    return {call.args[TSR_ATTENTION_BUCKETS] ? 6 : 5, TSR_ATTENTION_ARGS};
  case TSR_ENTRY_ATTENTION_BACKWARD:
    return {call.args[TSR_ATTENTION_BUCKETS] ? 11 : 9, TSR_ATTENTION_ARGS};
  case TSR_ENTRY_SCATTER_ADD:
    return {3, TSR_SCATTER_ARGS};
  case TSR_ENTRY_FILL:
    return {1, TSR_FILL_ARGS};
  case TSR_ENTRY_COPY:
    return {2, TSR_COPY_ARGS};
  case TSR_ENTRY_ROUTED:
    return {operandsOfRouted(call.args[TSR_ROUTED_KIND]) + 1, TSR_ROUTED_ARGS};
  case TSR_ENTRY_ALL_TO_ALL:
    return {3, TSR_COLLECTIVE_ARGS};
  case TSR_ENTRY_ALL_REDUCE:
  case TSR_ENTRY_BROADCAST:
    return {1, TSR_COLLECTIVE_ARGS};
  case TSR_ENTRY_ZIGZAG:
    return {3, TSR_COLLECTIVE_ARGS};
  case TSR_ENTRY_SEND:
    return {2, TSR_MESSAGE_ARGS};
  case TSR_ENTRY_RECEIVE:
    return {1, TSR_MESSAGE_ARGS};
  case TSR_ENTRY_WAIT:
    return {1, 0};
  default:
    return {2, TSR_COLLECTIVE_ARGS};
  }
}

} // namespace tessera::cuda
