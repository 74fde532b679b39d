//===- RoutedCall.h - One call of routed on a GPU ---------------*- C++ -*-===//
// Checks a call and makes its parameters, free of CUDA's headers so that it is
// tested anywhere. Semantics: TSR_ROUTED_* in tessera/abi_arguments.h.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CUDA_EXPERTS_ROUTEDCALL_H
#define TESSERA_RUNTIME_CUDA_EXPERTS_ROUTEDCALL_H

#include "runtime/cpu/RoutedProblem.h"
#include "runtime/cuda/experts/RoutedParams.h"

#include <cstddef>
#include <string>

namespace tessera::cuda {

/// Returns "", or why device 'cuda' cannot run the call.
std::string checkRouted(const RoutedProblem &call);

/// Bytes of device memory, 16-byte aligned, that hold nothing between calls:
/// the row lists of products, and where compact rows and messages lie.
size_t routedWorkspace(const RoutedProblem &call);

/// Requires checkRouted(call) to be "".
RoutedParams makeRoutedParams(const RoutedProblem &call, void *workspace);

/// Returns the parameters of a call that moves messages.
MessageParams messagesOf(const RoutedProblem &call, const RoutedParams &params);

/// Returns the rows of a product's result that are not routed.
UnroutedRows unroutedOf(const RoutedProblem &call);
/// Returns the compact rows of a result behind those that are routed.
RestRows restOf(const RoutedProblem &call, const RoutedParams &params);

/// [experts, tokens, row] of elements of 2, 4 or 8 bytes in `rows`.
struct GatedRows {
  const void *gates;
  int64_t experts, tokens, rowBytes;
  void *rows;
};
/// Returns "", or why device 'cuda' cannot set them to zero.
std::string checkGatedRows(const GatedRows &rows);
UnroutedRows unroutedOf(const GatedRows &rows);

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_EXPERTS_ROUTEDCALL_H
