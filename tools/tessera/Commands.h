//===- Commands.h - one function per subcommand -----------------*- C++ -*-===//
// Each returns the exit code: 0, or 1 after an error has been printed.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_TESSERA_COMMANDS_H
#define TESSERA_TOOLS_TESSERA_COMMANDS_H

#include "tools/tessera/options/DriverOptions.h"

namespace tessera {

int runDoctor(const DriverOptions &options);
int runImport(const DriverOptions &options);
int runCompile(const DriverOptions &options);
int runReport(const DriverOptions &options);
int runSimulate(const DriverOptions &options);
int runCalibrate(const DriverOptions &options);
int runSign(const DriverOptions &options);
int runMerge(const DriverOptions &options);
int runPlan(const DriverOptions &options);
int runExplore(const DriverOptions &options);
int runVerify(const DriverOptions &options);
/// The JSON of a verification that an error ended.
void printVerifyError(const std::string &error);
int runTokenize(const DriverOptions &options);
int runTrain(const DriverOptions &options);
int runEvaluate(const DriverOptions &options);
int runGenerate(const DriverOptions &options);
int runEncode(const DriverOptions &options);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_COMMANDS_H
