//===- KernelOpInterface.h - ops that kernels can compute -------*- C++ -*-===//
// The ops of nn and rt get the interface from lib/Lower/Kernels, which knows
// how to build code; the dialects do not depend on lowering.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LOWER_KERNELS_KERNELOPINTERFACE_H
#define TESSERA_LOWER_KERNELS_KERNELOPINTERFACE_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/OpDefinition.h"
#include "tessera/Lower/Kernels/KernelSpace.h"
#include <functional>

namespace tessera {

/// Builds the result for one element from the operands' scalars, in computing
/// precision (integers as they are). Scalars of operands that are tables or
/// lend their shape are null. The body of a reduction builds the value that is
/// added or compared.
using ElementBody =
    std::function<mlir::Value(mlir::OpBuilder &, mlir::ValueRange)>;

/// The part of a kernel that the body of one of its ops can use.
class KernelScope {
public:
  virtual ~KernelScope() = default;

  /// Builds what is computed once, before the launch.
  virtual mlir::OpBuilder &host() = 0;
  /// Passes a scalar (i64) that `host` computes to the kernel.
  virtual mlir::Value scalar(mlir::Value value) = 0;
  /// Returns an operand as a matrix [rows, columns] that the body extracts
  /// from.
  virtual mlir::Value table(unsigned operand) = 0;
  virtual const KernelSpace &space() const = 0;
  /// Returns the columns of the kernel: trailing factors of the space.
  virtual int64_t columns() const = 0;
  /// Returns the local index of the body's element along factor number `factor`
  /// of the space (i64).
  virtual mlir::Value localIndex(mlir::OpBuilder &body, unsigned factor) = 0;
};

/// Attaches the interface to the ops of nn and rt that kernels can compute.
void registerKernelOps(mlir::DialectRegistry &registry);

} // namespace tessera

#include "tessera/Lower/Kernels/KernelOpInterface.h.inc"

#endif // TESSERA_LOWER_KERNELS_KERNELOPINTERFACE_H
