//===- Reproducer.h - the input of a pass that crashed ----------*- C++ -*-===//

#ifndef TESSERA_LIB_PIPELINES_REPRODUCER_H
#define TESSERA_LIB_PIPELINES_REPRODUCER_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include <string>

namespace tessera {

/// Runs the passes. Where one crashes, or fails without an error, its pipeline
/// and input go to a new file that only this user may read, from which
/// `tessera-opt --run-reproducer` repeats the failure. A diagnostic names the
/// file. A pass that reports an error leaves no file: its error says what the
/// user has to mend.
mlir::LogicalResult runWithReproducer(mlir::PassManager &manager,
                                      mlir::ModuleOp module);

/// Does the same, but the file is `path`, and is also written when a pass
/// reports an error: the user asked for it.
mlir::LogicalResult runWithReproducer(mlir::PassManager &manager,
                                      mlir::ModuleOp module,
                                      const std::string &path);

} // namespace tessera

#endif // TESSERA_LIB_PIPELINES_REPRODUCER_H
