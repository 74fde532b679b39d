//===- OptionGroups.h - options that several commands share -----*- C++ -*-===//
// Plain data between the parser of the command line and the code below the
// commands, which knows no parser: a function takes the group that it reads.
// 0 and "" mean: not given.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_TESSERA_OPTIONS_OPTIONGROUPS_H
#define TESSERA_TOOLS_TESSERA_OPTIONS_OPTIONGROUPS_H

#include "tessera/Pipelines/PlannedModel.h"
#include "tools/tessera/options/LaunchEnvironment.h"
#include <string>
#include <utility>
#include <vector>

namespace tessera {

/// The files that a model reads.
struct DataOptions {
  std::vector<std::string> data;
  std::vector<double> dataWeights; ///< One for each of `data`, or none.
  double validationFraction = 0;   ///< This part of each of `data` is held out.
  std::string dataFormat = "auto";
  int64_t seed = 0;
};

/// The data that a model is measured on.
struct EvaluationOptions {
  std::vector<std::string> evalData; ///< train: measured beside the run.
  int64_t evalBatches = 0;           ///< 0: all.
  std::string evalTokenizer;         ///< Counts bytes; "": that of the model.
};

/// The processes of a run, and their ranks.
struct LaunchOptions {
  std::string communicator;
  Launch launch; ///< One of several processes, or alone.
  int32_t rendezvousTimeoutMs = 0;
  std::string secret;     ///< The processes share it; "": none.
  std::string secretNote; ///< Says that its file is unsafe; "": it is not.
  bool trustsNetwork = false;
  bool allowsMixedCpus = false;       ///< Processes then do not agree on one.
  std::string rendezvous, secretFile; ///< They are as given.
  int32_t timeoutMs = 0, saveTimeoutMs = 0;
  /// Options and their values that all processes of a run must have alike.
  std::vector<std::pair<std::string, std::string>> shared;
  /// Moves the bytes between processes, for people: "TCP" or an MPI's name.
  std::string network = "TCP";
};

/// A run of a training step or an evaluation: train and evaluate.
struct RunSettings : PlannedModel,
                     DataOptions,
                     EvaluationOptions,
                     LaunchOptions {
  std::string weights, adapter; ///< A file or directory, and a directory.
  int32_t threads = 0;
  int64_t maxShardBytes = 0; ///< In a file of saved weights; 0: one file.
};

/// A run of a model that is trained: generate and encode.
struct InferenceOptions : PlannedModel {
  std::string weights;    ///< A file or directory of transformers.
  std::string checkpoint; ///< A directory.
  std::string tokenizer;  ///< "": the model's.
  int32_t threads = 0;
  bool json = false;
};

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_OPTIONS_OPTIONGROUPS_H
