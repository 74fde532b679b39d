//===- FileChecks.h - are files where and what they must be? ----*- C++ -*-===//
// Errors of names of files come before minutes of compilation. All functions
// return what is wrong, with the remedy, or ""; "" as a path is not given.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_TESSERA_OPTIONS_FILECHECKS_H
#define TESSERA_TOOLS_TESSERA_OPTIONS_FILECHECKS_H

#include "tools/tessera/options/OptionGroups.h"
#include <initializer_list>

namespace tessera {

/// Checks that the model is one that a command takes.
std::string checkModel(const ModelArgument &options, ModelKinds kinds);
/// Checks that there is a file that can be signed.
std::string checkSignable(const std::string &artifact);

/// Checks that a file can be written; `example` is a name for it.
std::string checkOutput(const std::string &path, const std::string &example);
/// Checks that files can be written into a directory, which is made where there
/// is none.
std::string checkDirectory(const std::string &flag, const std::string &path);
/// Checks the files that compilation writes.
std::string checkPlanFiles(const PlanOptions &plan);

/// Checks a file that must exist, even if its name is "".
std::string checkInput(const std::string &flag, const std::string &path,
                       const std::string &remedy);
std::string checkInputs(const std::string &flag,
                        const std::vector<std::string> &paths,
                        const std::string &remedy);
/// Checks a directory that is read.
std::string checkReadDirectory(const std::string &flag, const std::string &path,
                               const std::string &remedy);
std::string checkWeights(const std::string &path);
std::string checkCheckpoint(const std::string &path);
std::string checkTokenizer(const std::string &path);
std::string checkTrusted(const ModelArgument &options);
/// Checks what train and evaluate read.
std::string checkRunFiles(const RunSettings &options);
/// Checks the weights and keys of a model that is run.
std::string checkInferenceFiles(const InferenceOptions &options);

/// Returns the first reason that is not "".
std::string firstOf(std::initializer_list<std::string> reasons);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_OPTIONS_FILECHECKS_H
