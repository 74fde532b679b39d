//===- FitMemory.h - plans that fit into the memory of a rank ---*- C++ -*-===//

#ifndef TESSERA_PIPELINES_FITMEMORY_H
#define TESSERA_PIPELINES_FITMEMORY_H

#include "mlir/IR/BuiltinOps.h"
#include "tessera/Options/PlanOptions.h"

namespace tessera {

/// Checks the memory limit and replaces Recompute::Auto by what it chooses; the
/// module, which is not distributed yet, stays as it is. An error names the
/// limit, what the plan needs and what would fit.
mlir::LogicalResult fitMemory(mlir::ModuleOp module, PlanOptions &plan);

} // namespace tessera

#endif // TESSERA_PIPELINES_FITMEMORY_H
