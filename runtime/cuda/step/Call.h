//===- Call.h - a program's call of an entry --------------------*- C++ -*-===//
#ifndef TESSERA_RUNTIME_CUDA_STEP_CALL_H
#define TESSERA_RUNTIME_CUDA_STEP_CALL_H

#include "runtime/calls/EntryTable.h"

#include <cstring>

namespace tessera::cuda {

using tessera::isAttention;
using tessera::isCoalesced;
using tessera::isCollective;
using tessera::isMessage;

/// `entry` is one of TSR_ENTRY_*.
struct Call {
  int entry;
  int64_t op;
  void *const *buffers;
  const int64_t *args;
};

/// Returns the kernel of a launch.
inline const tsr_abi_device_kernel &kernelOf(void *const *buffers) {
  return *static_cast<const tsr_abi_device_kernel *>(buffers[0]);
}

/// Returns the dropout of a call of attention.
inline double dropoutOf(const Call &call) {
  double dropout;
  std::memcpy(&dropout, &call.args[TSR_ATTENTION_DROPOUT_BITS], sizeof dropout);
  return dropout;
}

/// The buffers and arguments of a call, those of a kernel or of members
/// included; the scalars of a launch are not counted.
struct Arity {
  int64_t buffers, args;
};
Arity arityOf(const Call &call);

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_STEP_CALL_H
