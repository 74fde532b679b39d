//===- CompileModel.h - from a model to an artifact -------------*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_INPUT_COMPILEMODEL_H
#define TESSERA_TOOLS_TESSERA_INPUT_COMPILEMODEL_H

#include "tessera/Import/Import.h"
#include "tools/tessera/options/DriverOptions.h"

namespace tessera {

/// How the model of `options` is imported. Mixed precision starts from an f32
/// program.
ImportOptions importOptions(const DriverOptions &options);

/// How `options` ask for `module` to be compiled. The number of micro-batches
/// is the module's: a .mlir file has its own.
PlanOptions planOf(const DriverOptions &options, mlir::ModuleOp module);

/// Compiles the model of `options` to `path`; prints errors, returns false.
bool compileModel(const DriverOptions &options, const std::string &path);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_INPUT_COMPILEMODEL_H
