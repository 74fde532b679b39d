//===- PlanOptions.h - the compiler's options from the driver's -----------===//

#ifndef TESSERA_TOOLS_PLANOPTIONS_H
#define TESSERA_TOOLS_PLANOPTIONS_H

#include "Options.h"
#include "mlir/IR/BuiltinOps.h"
#include "tessera/Pipelines/Compile.h"

namespace tessera {

/// How the flags of `options` ask for `module` to be compiled. The number of
/// micro-batches is the module's: a .mlir file has its own.
CompileOptions planOptions(const DriverOptions &options, mlir::ModuleOp module);

} // namespace tessera

#endif // TESSERA_TOOLS_PLANOPTIONS_H
