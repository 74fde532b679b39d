//===- VectorMemory.h - loads and stores of lanes ---------------*- C++ -*-===//
// Accesses through `!llvm.ptr` at a multiple of `alignment` bytes (0: of an
// element), with an optional mask (null means all lanes). Addresses count in
// elements.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LIB_CODEGEN_KERNELS_VECTORMEMORY_H
#define TESSERA_LIB_CODEGEN_KERNELS_VECTORMEMORY_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace tessera {

mlir::Value advance(mlir::OpBuilder &builder, mlir::Location loc,
                    mlir::Value pointer, mlir::Type element,
                    mlir::Value offset);
mlir::Value loadScalar(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value pointer, mlir::Type element);
mlir::Value loadLanes(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::Value pointer, mlir::VectorType type,
                      mlir::Value mask, unsigned alignment = 0);
/// Lane i is loaded from `pointer + offsets[i]`.
mlir::Value gatherLanes(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value pointer, mlir::Value offsets,
                        mlir::VectorType type, mlir::Value mask);
/// Stores a scalar or a vector.
void store(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
           mlir::Value pointer, mlir::Value mask, unsigned alignment = 0);

/// Returns the constant (0, 1, ..., lanes - 1) of an integer or index type.
mlir::Value laneNumbers(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::VectorType type);
mlir::Value constantI64(mlir::OpBuilder &builder, mlir::Location loc,
                        int64_t value);
mlir::Value constantI32(mlir::OpBuilder &builder, mlir::Location loc,
                        int32_t value);

} // namespace tessera

#endif // TESSERA_LIB_CODEGEN_KERNELS_VECTORMEMORY_H
