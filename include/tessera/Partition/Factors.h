//===- Factors.h - where a rank's slice of a factor lies --------*- C++ -*-===//
// After localization an op knows of each split factor (`rt.factors`) over which
// axes it is split, into chunks of what size, and its global size. Kernels need
// this where positions matter: vocabulary, masks, dropout.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_PARTITION_FACTORS_H
#define TESSERA_PARTITION_FACTORS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Operation.h"
#include "tessera/Dialect/Dist/Dist.h"
#include <optional>

namespace tessera {

struct FactorSpan {
  /// An axis and the size of its chunks, the same on every rank.
  struct Cut {
    mlir::StringAttr axis;
    int64_t chunk = 0;
  };
  llvm::SmallVector<Cut, 2> cuts; ///< Outermost first; each cuts the last.
  int64_t total = 0;              ///< Global size.

  int64_t chunk() const { return cuts.back().chunk; } ///< Local size.
  /// Do some ranks hold fewer than `chunk` valid elements?
  bool isPadded(dist::MeshAttr mesh) const;
};

/// Returns the span of a factor of `op`; nullopt if the factor is whole.
std::optional<FactorSpan> spanOf(mlir::Operation *op, char factor);
/// Records the span of a factor.
void setSpan(mlir::Operation *op, char factor, const FactorSpan &span);

/// Returns the first global index of the rank's slice (i64): the sum of
/// coordinate * chunk over its cuts, or 0.
mlir::Value startOf(mlir::OpBuilder &builder, mlir::Location loc,
                    const std::optional<FactorSpan> &span);
/// Valid elements of the rank's slice (i64), from 0 to chunk.
mlir::Value validOf(mlir::OpBuilder &builder, mlir::Location loc,
                    const FactorSpan &span);
/// Returns the number of the micro-batch that an op works on (i64); null if
/// there is one.
mlir::Value microBatchOf(mlir::OpBuilder &builder, mlir::Operation *op);
/// Returns an i64 constant.
mlir::Value i64(mlir::OpBuilder &builder, mlir::Location loc, int64_t value);

} // namespace tessera

#endif // TESSERA_PARTITION_FACTORS_H
