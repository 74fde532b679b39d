//===- Reproducer.h - the input of a pass that crashed ----------*- C++ -*-===//

#ifndef TESSERA_LIB_PIPELINES_REPRODUCER_H
#define TESSERA_LIB_PIPELINES_REPRODUCER_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include <string>

namespace tessera {

/// When a file is written from which `tessera-opt --run-reproducer` can repeat
/// a failure.
enum class ReproducerPolicy {
  CrashesOnly, ///< A pass crashed, or failed without an error.
  Always       ///< Also where a pass reported an error: the user asked for it.
};

/// Runs the passes; where one fails, the pipeline with its input goes to `path`
/// and a diagnostic names the file. Errors that a pass reports are the user's
/// to mend: unless the policy is Always, they are all that is said.
mlir::LogicalResult runWithReproducer(mlir::PassManager &manager,
                                      mlir::ModuleOp module,
                                      const std::string &path,
                                      ReproducerPolicy policy);

} // namespace tessera

#endif // TESSERA_LIB_PIPELINES_REPRODUCER_H
