//===- Compile.h - from an nn module to an artifact -------------*- C++ -*-===//
// The story of the compiler, as one call. `tessera compile`, `report`, `verify`
// and `train` all go through it.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_PIPELINES_COMPILE_H
#define TESSERA_PIPELINES_COMPILE_H

#include "mlir/IR/BuiltinOps.h"
#include "tessera/Options/PlanOptions.h"
#include <functional>

namespace tessera {

/// Loads every dialect the compiler needs.
void registerCompilerDialects(mlir::DialectRegistry &registry);
/// Registers every pass and pipeline, for tessera-opt: Tessera's, and those of
/// MLIR that they use or that rewrite any program, as canonicalize does.
void registerCompilerPasses();

/// Runs the first half: distributes, differentiates and adds the optimizer, in
/// place. The module then holds the typed program `@step`.
mlir::LogicalResult distributeToStep(mlir::ModuleOp module,
                                     const PlanOptions &plan);

/// Distributes, differentiates and lowers `module` (function @loss, attribute
/// `nn.model`) in place and writes the artifact. Errors are diagnostics.
mlir::LogicalResult compileToArtifact(mlir::ModuleOp module,
                                      const PlanOptions &plan,
                                      llvm::StringRef path);

/// Sees the program before the passes, as "input", and after each of them, with
/// what the pass does in a line.
using PassObserver = std::function<void(
    llvm::StringRef pass, llvm::StringRef what, mlir::ModuleOp module)>;

/// Observers and checks beside passes.
struct PassWatch {
  PassObserver observer;
  /// After each pass: every type of a distribution, every operation.
  bool verifies = true;
};

/// Returns the artifact's description of itself, without making its code.
mlir::FailureOr<std::string> compileToMetadata(mlir::ModuleOp module,
                                               const PlanOptions &plan,
                                               const PassWatch &watch = {});

} // namespace tessera

#endif // TESSERA_PIPELINES_COMPILE_H
