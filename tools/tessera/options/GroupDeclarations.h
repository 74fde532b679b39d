//===- GroupDeclarations.h - shared options, declared -----------*- C++ -*-===//
// Each function declares a group of options, or checks one; PlanGroup.h has the
// options of a plan.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_TESSERA_OPTIONS_GROUPDECLARATIONS_H
#define TESSERA_TOOLS_TESSERA_OPTIONS_GROUPDECLARATIONS_H

#include "tools/tessera/options/Declare.h"
#include "tools/tessera/options/OptionGroups.h"

namespace tessera {

void declare(CLI::App &app, DataOptions &options);
void declare(CLI::App &app, EvaluationOptions &options);
void declare(CLI::App &app, LaunchOptions &options);
/// The weights of a model that is run, trust in it, and threads.
void declare(CLI::App &app, InferenceOptions &options);

void declareTrust(CLI::App &app, ModelArgument &options);
void declareThreads(CLI::App &app, int32_t &threads);
/// Needs --load-weights: an adapter fits the weights that it was trained
/// beside.
CLI::Option *declareAdapter(CLI::App &app, std::string &adapter);
CLI::Option *declareCheckpoint(CLI::App &app, std::string &checkpoint);
CLI::Option *declareTokenizer(CLI::App &app, std::string &tokenizer);
void declareOutput(CLI::App &app, const std::string &extension,
                   const char *what, std::string &output);
void declareJson(CLI::App &app, bool &json);
void declarePage(CLI::App &app, std::string &html);
CLI::Option *declareCluster(CLI::App &app, const char *what,
                            std::string &cluster);
/// Declares the --cluster of a command that needs one.
void requireCluster(CLI::App &app, std::string &cluster);

/// Reads the environment and the secret. Refuses what one process, or several,
/// cannot have.
void check(LaunchOptions &options);
/// Refuses to do in each process of a launcher what is meant for one.
void requireOneProcess(const CLI::App &app);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_OPTIONS_GROUPDECLARATIONS_H
