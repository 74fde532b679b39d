//===- FileChecks.h - are files where and what they must be? ----*- C++ -*-===//
// Asked before minutes of compilation. Each returns what is wrong, with what
// was given, what is needed and the remedy; "" if nothing is.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_TESSERA_OPTIONS_FILECHECKS_H
#define TESSERA_TOOLS_TESSERA_OPTIONS_FILECHECKS_H

#include "tools/tessera/options/DriverOptions.h"

namespace tessera {

/// Returns the model, and what any command writes.
std::string checkFiles(const DriverOptions &options);

/// What a run reads and writes besides. `options` know what it resumes.
std::string checkRunFiles(const DriverOptions &options);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_OPTIONS_FILECHECKS_H
