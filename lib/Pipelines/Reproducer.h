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
/// file. Errors that a pass reports are the user's to mend, and all that is
/// said.
mlir::LogicalResult runWithReproducer(mlir::PassManager &manager,
                                      mlir::ModuleOp module);

/// As above, but the file is `path`, and an error that a pass reports writes it
/// too: the user asked for it.
mlir::LogicalResult runWithReproducer(mlir::PassManager &manager,
                                      mlir::ModuleOp module,
                                      const std::string &path);

} // namespace tessera

#endif // TESSERA_LIB_PIPELINES_REPRODUCER_H
