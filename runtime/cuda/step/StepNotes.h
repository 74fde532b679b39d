//===- StepNotes.h - what a step calls, and what varies in it ---*- C++ -*-===//
// The int64 scalars of launches and the keys of dropout are all that may differ
// between two steps that make the same calls. A step's first walk notes them as
// words, in order, and a digest of everything else. Of a list of calls only
// what its scalars decide is looked at, after the first time: after capture the
// walk is what the host does in a step.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CUDA_STEP_STEPNOTES_H
#define TESSERA_RUNTIME_CUDA_STEP_STEPNOTES_H

#include "runtime/calls/Calls.h"
#include "runtime/cuda/step/Call.h"
#include "runtime/cuda/step/StepTable.h"

#include <unordered_map>

namespace tessera::cuda {

class StepNotes {
public:
  /// Before a walk that notes.
  void clear();
  /// A call outside of all lists.
  void note(const Call &call);
  /// A list (tsr_abi_run), which stays as it is as long as this lives.
  void note(const tsr_abi_frame &frame, const tsr_abi_calls &calls,
            const int64_t *scalars);

  /// Equal for steps that make the same calls.
  uint64_t calls() const { return digest.value(); }
  StepTable &words() { return table; }

private:
  /// What is to be looked at in every step.
  struct List {
    std::vector<int64_t> deciding; ///< scalars, ascending
    std::vector<int64_t> varying;  ///< positions of calls with words
  };
  const List &listOf(const tsr_abi_calls &calls, CallReader &reader);
  void noteWords(const Call &call);

  StepTable table;
  CallDigest digest;
  std::unordered_map<const tsr_abi_calls *, List> lists;
};

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_STEP_STEPNOTES_H
