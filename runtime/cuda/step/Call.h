//===- Call.h - a program's call of an entry --------------------*- C++ -*-===//
#ifndef TESSERA_RUNTIME_CUDA_STEP_CALL_H
#define TESSERA_RUNTIME_CUDA_STEP_CALL_H

#include "tessera/abi.h"

#include <cstring>

namespace tessera::cuda {

/// `entry` is one of TSR_ENTRY_*.
struct Call {
  int entry;
  int64_t op;
  void *const *buffers;
  const int64_t *args;
};

inline bool isAttention(int entry) {
  return entry == TSR_ENTRY_ATTENTION || entry == TSR_ENTRY_ATTENTION_BACKWARD;
}

inline bool isMessage(int entry) {
  return entry == TSR_ENTRY_SEND || entry == TSR_ENTRY_RECEIVE;
}

inline bool isCollective(int entry) {
  return entry >= TSR_ENTRY_ALL_REDUCE && entry != TSR_ENTRY_WAIT &&
         entry != TSR_ENTRY_ROUTED && !isMessage(entry);
}

/// Of a launch.
inline const tsr_abi_device_kernel &kernelOf(void *const *buffers) {
  return *static_cast<const tsr_abi_device_kernel *>(buffers[0]);
}

/// Of attention.
inline double dropoutOf(const Call &call) {
  double dropout;
  std::memcpy(&dropout, &call.args[TSR_ATTENTION_DROPOUT_BITS], sizeof dropout);
  return dropout;
}

/// Buffers and arguments of an entry; a launch says its own, its kernel and its
/// scalars left out.
struct Arity {
  int64_t buffers, args;
};
Arity arityOf(const Call &call);

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_STEP_CALL_H
