//===- Commands.h - one function per subcommand ---------------------------===//
// Each returns the exit code: 0, or 1 after an error has been printed.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_COMMANDS_H
#define TESSERA_TOOLS_COMMANDS_H

#include "Options.h"

namespace tessera {

int runDoctor(const DriverOptions &options);
int runImport(const DriverOptions &options);
int runCompile(const DriverOptions &options);
int runReport(const DriverOptions &options);
int runVerify(const DriverOptions &options);
int runTrain(const DriverOptions &options);

/// Compiles the model of `options` to `path`; prints errors, returns false.
bool compileModel(const DriverOptions &options, const std::string &path);

/// Of several processes: errors begin with "rank N: " from here on.
void setErrorRank(int64_t rank);

/// Prints "error: message" and returns 1.
int printError(const std::string &message);

} // namespace tessera

#endif // TESSERA_TOOLS_COMMANDS_H
