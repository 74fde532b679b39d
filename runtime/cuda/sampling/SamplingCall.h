//===- SamplingCall.h - Calls of penalize, top, merge_top -------*- C++ -*-===//
// Checks calls and makes their parameters, free of CUDA's headers so that it is
// tested anywhere. Semantics: TSR_PENALIZE_*, TSR_TOP_* and TSR_MERGE_TOP_* in
// tessera/abi_arguments.h.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CUDA_SAMPLING_SAMPLINGCALL_H
#define TESSERA_RUNTIME_CUDA_SAMPLING_SAMPLINGCALL_H

#include "runtime/cpu/SamplingProblem.h"
#include "runtime/cuda/sampling/SamplingParams.h"

namespace tessera::cuda {

/// Return "", or why device 'cuda' cannot run the call.
std::string checkPenalize(const PenalizeProblem &call);
std::string checkTop(const TopProblem &call);
std::string checkMergeTop(const MergeTopProblem &call);

// Each requires that its check is "".
PenalizeParams makePenalizeParams(const PenalizeProblem &call);
TopParams makeTopParams(const TopProblem &call);
MergeTopParams makeMergeTopParams(const MergeTopProblem &call);

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_SAMPLING_SAMPLINGCALL_H
