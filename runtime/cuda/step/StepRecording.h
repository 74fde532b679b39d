//===- StepRecording.h - what a step calls, and what varies -----*- C++ -*-===//
// The per-step scalars (StepScalars.h) are all that may differ between two
// steps that make the same calls. The recording pass of a step collects them,
// and a digest of everything else. After the first time, of a list of calls
// only what its scalars decide is read: once a step is captured, the recording
// pass is all that the host does in a step.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CUDA_STEP_STEPRECORDING_H
#define TESSERA_RUNTIME_CUDA_STEP_STEPRECORDING_H

#include "runtime/calls/Calls.h"
#include "runtime/cuda/step/Call.h"
#include "runtime/cuda/step/StepScalars.h"

#include <unordered_map>

namespace tessera::cuda {

class StepRecording {
public:
  /// Clears the recording before a recording pass.
  void clear();
  /// Records a call outside of all lists.
  void record(const Call &call);
  /// Records a list (tsr_abi_run), which stays as it is as long as this lives.
  void record(const tsr_abi_frame &frame, const tsr_abi_calls &calls,
              const int64_t *scalars);

  /// Equal for steps that make the same calls.
  uint64_t calls() const { return digest.value(); }
  StepScalars &scalars() { return table; }

private:
  /// The parts of a list that every step reads.
  struct List {
    std::vector<int64_t> deciding; ///< scalars, ascending
    std::vector<int64_t> varying;  ///< positions of calls with per-step scalars
  };
  const List &listOf(const tsr_abi_calls &calls, CallReader &reader);
  void recordScalars(const Call &call);

  StepScalars table;
  CallDigest digest;
  std::unordered_map<const tsr_abi_calls *, List> lists;
};

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_STEP_STEPRECORDING_H
