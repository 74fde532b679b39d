//===- PlanOptions.h - the compiler's options from the driver's -*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_OPTIONS_PLANOPTIONS_H
#define TESSERA_TOOLS_TESSERA_OPTIONS_PLANOPTIONS_H

#include "mlir/IR/BuiltinOps.h"
#include "tessera/Pipelines/Compile.h"
#include "tools/tessera/options/Options.h"

namespace tessera {

/// How the flags of `options` ask for `module` to be compiled. The number of
/// micro-batches is the module's: a .mlir file has its own.
CompileOptions planOptions(const DriverOptions &options, mlir::ModuleOp module);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_OPTIONS_PLANOPTIONS_H
