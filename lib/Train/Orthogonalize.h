//===- Orthogonalize.h - the matrices of Muon -------------------*- C++ -*-===//

#ifndef TESSERA_LIB_TRAIN_ORTHOGONALIZE_H
#define TESSERA_LIB_TRAIN_ORTHOGONALIZE_H

#include "lib/Train/OptimizerOps.h"

namespace tessera {

/// The matrix form of a parameter: its first `rowDims` dimensions are the rows,
/// as in the file. A fused query-key-value weight is one matrix.
struct MatrixForm {
  unsigned rowDims = 1;
  int64_t rows = 0, columns = 0;
  /// Says if `x x^T` or `x^T x` is formed: the smaller one. It is the same on
  /// every mesh, so that all compute the serial program.
  bool multipliesRows = true;
};

/// Returns the form of a parameter that matrix products alone read; nullopt for
/// vectors, tables that are looked up and the output's vocabulary. Fails with
/// an error for the matrices of experts.
mlir::FailureOr<std::optional<MatrixForm>> matrixFormOf(mlir::func::FuncOp func,
                                                        unsigned argument);

/// Returns the nearest semi-orthogonal matrix, about: five steps of a quintic
/// Newton-Schulz iteration with the coefficients of Jordan et al. 2024
/// ("Muon"), as in torch.optim.Muon. Singular values come out in about [0.7,
/// 1.2]; a matrix of zeros stays one. So does, other than in torch, a matrix
/// whose norm is below the rounding of `norm`, that of all gradients: it is 0
/// but for rounding, as the gradient of a query over a single key is, and has
/// no direction.
mlir::Value orthogonalized(OptimizerOps &ops, mlir::Value x,
                           const MatrixForm &form, mlir::Value norm);

} // namespace tessera

#endif // TESSERA_LIB_TRAIN_ORTHOGONALIZE_H
