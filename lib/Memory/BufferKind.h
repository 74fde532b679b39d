//===- BufferKind.h - what the buffers of an arena hold ---------*- C++ -*-===//
#ifndef TESSERA_LIB_MEMORY_BUFFERKIND_H
#define TESSERA_LIB_MEMORY_BUFFERKIND_H

#include "lib/Memory/Buffers.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringRef.h"
#include <array>

namespace tessera::rt {

/// The contents of a buffer (docs/Artifact.md).
enum BufferKind {
  Weights,
  Optimizer,
  Caches,
  Inputs,
  WeightCopies,
  GatheredWeights,
  Gradients,
  Activations,
  Workspace
};
inline constexpr llvm::StringLiteral kKindNames[] = {
    "weights",          "optimizer", "caches",      "inputs",   "weight copies",
    "gathered weights", "gradients", "activations", "workspace"};
/// Bytes of each kind.
using KindBytes = std::array<int64_t, std::size(kKindNames)>;

BufferKind kindOfArgument(mlir::func::FuncOp func, unsigned index);
BufferKind kindOf(const Buffer &buffer);

} // namespace tessera::rt

#endif // TESSERA_LIB_MEMORY_BUFFERKIND_H
