//===- KernelAnalysis.h - checks and classifies a kernel --------*- C++ -*-===//
// The steps of Kernel::analyze. Each emits an error for what it refuses.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LOWER_KERNELS_KERNELANALYSIS_H
#define TESSERA_LOWER_KERNELS_KERNELANALYSIS_H

#include "tessera/Lower/Kernels/Kernel.h"

namespace tessera {

class KernelAnalysis {
public:
  explicit KernelAnalysis(Kernel &kernel) : kernel(kernel) {}
  mlir::LogicalResult run();

private:
  mlir::LogicalResult checkSignature();
  mlir::LogicalResult collectOps();
  mlir::LogicalResult checkMaps(mlir::linalg::GenericOp op);
  mlir::LogicalResult findIterationSpace();
  mlir::LogicalResult mergeSize(mlir::Operation *op, int64_t &size,
                                int64_t other);
  mlir::LogicalResult findLineSizes();
  mlir::LogicalResult resolveDomains();
  mlir::LogicalResult assignDomain(mlir::linalg::GenericOp op, unsigned operand,
                                   Dims domain);
  mlir::LogicalResult resolveLine(mlir::linalg::GenericOp op, bool &changed);
  Dims lineDomain(mlir::Value tensor) const;
  mlir::LogicalResult checkResultDomains();
  mlir::LogicalResult classifyBodies();
  mlir::LogicalResult classifyBodyOp(mlir::linalg::GenericOp op,
                                     mlir::Operation *body);
  mlir::LogicalResult checkTable(mlir::Operation *extract);
  mlir::LogicalResult classifyReduction(mlir::linalg::GenericOp op);
  mlir::LogicalResult checkColumnReduction(mlir::linalg::GenericOp op);
  mlir::LogicalResult checkElementwise(mlir::linalg::GenericOp op);
  void chooseTraversal();
  bool isFlat() const;

  Kernel &kernel;
  bool hasPlane = false, hasLine = false;
};

} // namespace tessera

#endif // TESSERA_LOWER_KERNELS_KERNELANALYSIS_H
