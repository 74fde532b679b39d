#include "runtime/cuda/step/Call.h"

#include "runtime/cpu/RoutedProblem.h"

namespace tessera::cuda {

Arity arityOf(const Call &call) {
  Arity arity{entryTable[call.entry].buffers, entryTable[call.entry].arguments};
  switch (call.entry) {
  case TSR_ENTRY_LAUNCH:
    arity.buffers += kernelOf(call.buffers).buffers;
    break;
  case TSR_ENTRY_ATTENTION: // the last is the table of biases
    arity.buffers -= call.args[TSR_ATTENTION_BUCKETS] == 0 ? 1 : 0;
    break;
  case TSR_ENTRY_ATTENTION_BACKWARD: // the last are the table and its gradient
    arity.buffers -= call.args[TSR_ATTENTION_BUCKETS] == 0 ? 2 : 0;
    break;
  case TSR_ENTRY_ALL_GATHER_COALESCED: // a source and a result of each member
  case TSR_ENTRY_REDUCE_SCATTER_COALESCED:
    arity.buffers = 2 * call.args[TSR_COALESCED_MEMBERS];
    arity.args += TSR_MEMBER_ARGS * call.args[TSR_COALESCED_MEMBERS];
    break;
  case TSR_ENTRY_ROUTED:
    arity.buffers = operandsOfRouted(call.args) + 1;
    break;
  default:
    break;
  }
  return arity;
}

} // namespace tessera::cuda
