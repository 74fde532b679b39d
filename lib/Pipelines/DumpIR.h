//===- DumpIR.h - the IR after each pass, as files --------------*- C++ -*-===//

#ifndef TESSERA_LIB_PIPELINES_DUMPIR_H
#define TESSERA_LIB_PIPELINES_DUMPIR_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassInstrumentation.h"
#include <string>

namespace tessera {

/// Writes NN-pass-name.mlir into a directory after every pass on a module; 00
/// is the input. What cannot be written is an error on the module, once.
class DumpIR : public mlir::PassInstrumentation {
public:
  explicit DumpIR(std::string directory) : directory(std::move(directory)) {}

  /// Creates the directory and writes the input.
  mlir::LogicalResult start(mlir::ModuleOp module);
  void runAfterPass(mlir::Pass *pass, mlir::Operation *op) override;

private:
  mlir::LogicalResult write(mlir::Operation *op, llvm::StringRef name);

  std::string directory;
  unsigned next = 0;
  bool failedOnce = false;
};

} // namespace tessera

#endif // TESSERA_LIB_PIPELINES_DUMPIR_H
