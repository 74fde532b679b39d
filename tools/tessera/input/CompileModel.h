//===- CompileModel.h - from a model to an artifact -------------*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_INPUT_COMPILEMODEL_H
#define TESSERA_TOOLS_TESSERA_INPUT_COMPILEMODEL_H

#include "tools/tessera/options/Options.h"

namespace tessera {

/// Compiles the model of `options` to `path`; prints errors, returns false.
bool compileModel(const DriverOptions &options, const std::string &path);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_INPUT_COMPILEMODEL_H
