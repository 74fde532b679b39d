//===- Programs.h - the program at every stage, and mutants of it ---------===//
// The passes of the compiler in steps, so that a program can be changed between
// them. Host code is compiled per mutant; kernels, most of the work, only where
// a mutant has other kernels.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TEST_MUTATION_PROGRAMS_H
#define TESSERA_TEST_MUTATION_PROGRAMS_H

#include "lib/Verify/ForwardRun.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "tessera/Pipelines/Pipeline.h"
#include "tessera/Target/SharedObject.h"
#include "test/Mutation/Mutant.h"
#include "test/Mutation/Strategy.h"
#include <map>
#include <mutex>

namespace tessera::test {

/// Object code by the text of the kernels in it; for all threads.
class KernelObjects {
public:
  /// Compiles what is not known; null if that fails.
  std::shared_ptr<const ObjectCode>
  get(const std::string &text,
      llvm::function_ref<mlir::FailureOr<ObjectCode>()> compile);

private:
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<const ObjectCode>> objects;
};

/// A strategy's program in a context of its own, for one thread.
class Programs {
public:
  explicit Programs(const Strategy &strategy);
  /// Makes the typed programs, parallel and serial. Returns false after an
  /// error, which `error` has.
  bool buildTyped();
  /// Makes the later stages of the typed program and compiles the serial one to
  /// `serialPath`. Returns false after an error.
  bool build(KernelObjects &kernels, const std::string &serialPath);

  /// Returns the parallel program at a stage.
  mlir::ModuleOp at(Stage stage) { return *parallel[int(stage)]; }
  /// The first error since the last call of `run`.
  const std::string &error() const { return firstError; }
  /// Returns the serial training step, or programs for generation, not lowered.
  mlir::ModuleOp serialStep() { return *serial; }
  /// Returns the forward program of generation, which is compiled to
  /// `serialPath`.
  const ForwardProgram &forward() const { return whole; }
  /// Runs the passes between two stages; false where one refuses.
  bool advance(mlir::ModuleOp module, Stage from, Stage to);
  /// Are memory and messages of a planned program as they must be?
  bool check(mlir::ModuleOp module);
  /// Compiles from Stage::Planned to an artifact; returns false if a pass
  /// refuses.
  bool compile(mlir::ModuleOp module, const std::string &path);
  /// Returns the lowered program as text: equal programs run alike.
  static std::string text(mlir::ModuleOp lowered);

private:
  bool compileSerial(const std::string &path);
  mlir::LogicalResult buildSerialPipeline(mlir::OpPassManager &manager);
  /// Records why a plan is refused.
  mlir::LogicalResult refuse(const llvm::Twine &why);
  bool run(mlir::ModuleOp module,
           llvm::function_ref<mlir::LogicalResult(mlir::OpPassManager &)> add);
  std::shared_ptr<const ObjectCode> kernelsOf(mlir::ModuleOp module);
  mlir::FailureOr<ObjectCode> link(mlir::ModuleOp module);

  mlir::OwningOpRef<mlir::ModuleOp> importModel();
  bool isPipeline() const;
  bool hasOwners() const;

  const Strategy &strategy;
  KernelObjects *kernels = nullptr;
  mlir::MLIRContext context;
  std::string firstError;
  PlanOptions plan;
  mlir::FailureOr<CpuTarget> target = mlir::failure();
  mlir::OwningOpRef<mlir::ModuleOp> serial;
  mlir::OwningOpRef<mlir::ModuleOp> parallel[kStages];
  mlir::Attribute metadataOptions;
  ForwardProgram whole;
};

} // namespace tessera::test

#endif // TESSERA_TEST_MUTATION_PROGRAMS_H
