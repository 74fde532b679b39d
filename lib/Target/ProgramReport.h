//===- ProgramReport.h - what a lowered program does, in numbers ----------===//
// Describes every call of one rank's program, and sums its work and traffic per
// optimizer step. What is counted is what runs.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_TARGET_PROGRAMREPORT_H
#define TESSERA_LIB_TARGET_PROGRAMREPORT_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tessera/Dialect/Dist/Dist.h"
#include "tessera/Program/Program.h"

namespace tessera {

/// Returns the sums over a program, without its parameters and the flops of all
/// ranks. Writes its calls into `calls` as the entries of a JSON list, with
/// commas between them: calls as objects would be most of the compiler's
/// memory. `stage` says whose they are.
program::Totals reportProgram(mlir::func::FuncOp step, dist::MeshAttr mesh,
                              std::optional<int64_t> stage, std::string &calls);
/// Adds the parameters of all programs of a stage, which share them by name.
void countParameters(llvm::ArrayRef<mlir::func::FuncOp> programs,
                     program::Totals &totals);

} // namespace tessera

#endif // TESSERA_LIB_TARGET_PROGRAMREPORT_H
