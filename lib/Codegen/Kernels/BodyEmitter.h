//===- BodyEmitter.h - bodies of generics as vector code --------*- C++ -*-===//
// Clones the ops of generics' bodies for one position of the iteration space.
// A value is emitted in the outermost scope where all that it varies over is
// bound, so what is uniform over the lanes stays scalar and is computed once.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LIB_CODEGEN_KERNELS_BODYEMITTER_H
#define TESSERA_LIB_CODEGEN_KERNELS_BODYEMITTER_H

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "tessera/Lower/Kernels/Kernel.h"

namespace tessera {

/// A place where values of one variance are emitted, and those emitted so far:
/// keyed by body value, or by tensor for its element at this position.
struct Scope {
  explicit Scope(mlir::OpBuilder builder) : builder(builder) {}
  mlir::OpBuilder builder;
  llvm::DenseMap<mlir::Value, mlir::Value> values;
  /// Row pointers of 2-D tensors and of tables.
  llvm::DenseMap<mlir::Value, mlir::Value> pointers;
};

/// One step: its scopes by variance, its i64 coordinates (`column` is that of
/// lane 0), its number of lanes, and those of them that exist (null: all).
struct Position {
  Scope *scopes[4] = {};
  mlir::Value row = {}, column = {};
  unsigned lanes = 0;
  mlir::Value mask = {};

  Scope &scope(Dims variance) const { return *scopes[variance]; }
};

class BodyEmitter {
public:
  BodyEmitter(const Kernel &kernel, mlir::Location loc)
      : kernel(kernel), loc(loc) {}

  /// Base pointers of argument tensors and of results.
  llvm::DenseMap<mlir::Value, mlir::Value> buffers;
  /// Pointers to one row of values that are kept for a later phase.
  llvm::DenseMap<mlir::Value, mlir::Value> scratch;

  /// Vectors of rows lie at multiples of their size (at most 16 bytes).
  bool alignVectors = false;

  /// Emits all of a body but the combiners of a reduction.
  void emitGeneric(mlir::linalg::GenericOp op, const Position &position);
  void emitOp(mlir::Operation *op, const Position &position);
  /// Returns the emitted value of a body value or function-level scalar.
  mlir::Value lookup(mlir::Value scalar, const Position &position);
  /// Returns the tensor's element at the position: emitted before, or loaded.
  mlir::Value element(mlir::Value tensor, const Position &position);
  /// Broadcasts a scalar; a vector is returned as it is.
  mlir::Value lanesOf(mlir::Value value, mlir::OpBuilder &builder,
                      unsigned lanes);
  void storeElement(mlir::Value tensor, mlir::Value base,
                    const Position &position);
  void storeScratch(mlir::Value tensor, const Position &position);
  /// Returns the alignment of a vector of `lanes` elements; 0 means that of an
  /// element.
  unsigned alignmentOf(mlir::Type element, unsigned lanes) const;

private:
  mlir::Value splat(mlir::Value tensor, const Position &position);
  mlir::Value load(mlir::Value tensor, Dims domain, const Position &position);
  mlir::Value address(mlir::Value tensor, mlir::Value base, Dims domain,
                      const Position &position);
  void emitIndex(mlir::linalg::IndexOp op, const Position &position);
  void emitElementwise(mlir::Operation *op, const Position &position);
  void emitExtract(mlir::tensor::ExtractOp op, const Position &position);
  mlir::Value tableRow(mlir::tensor::ExtractOp op, const Position &position);
  mlir::Value tableOffsets(mlir::tensor::ExtractOp op,
                           const Position &position);
  mlir::Value asI64(mlir::Value index, mlir::OpBuilder &builder);
  bool isLaneIndex(mlir::Value index) const;

  const Kernel &kernel;
  mlir::Location loc;
};

inline mlir::VectorType vectorOf(mlir::Type element, unsigned lanes) {
  return mlir::VectorType::get({lanes}, element);
}

} // namespace tessera

#endif // TESSERA_LIB_CODEGEN_KERNELS_BODYEMITTER_H
