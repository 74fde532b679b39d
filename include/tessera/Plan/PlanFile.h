//===- PlanFile.h - a plan as a file ----------------------------*- C++ -*-===//
// A plan file is written by `tessera plan` and read by --plan: values of the
// options of PlanFlags.def, for one model. docs/Planning.md describes the
// format.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_PLAN_PLANFILE_H
#define TESSERA_PLAN_PLANFILE_H

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tessera::plan {

/// Tells models apart: a config.json by its values, whatever their order and
/// layout; a program by its bytes.
struct ModelIdentity {
  std::string type; ///< "gpt2"; of a program "program".
  std::string fingerprint;
  std::string str() const { return type + " " + fingerprint; }
};

struct PlanFile {
  static constexpr int64_t kVersion = 1;
  /// The options of the list "layers".
  static constexpr const char *kRecomputeOption = "layer-recompute";
  static constexpr const char *kReplicatedOption = "replicated-layers";

  ModelIdentity model;
  /// Names without dashes and texts, as the command line takes them:
  /// {"mesh", "dp=2,tp=4"}. A switch is "true" or "false". In the file,
  /// the options of layers are the list "layers".
  std::vector<std::pair<std::string, std::string>> options;
  /// The cluster that the predictions below are for; "": nothing is predicted.
  std::string cluster;
  double stepSeconds = 0;
  int64_t memoryBytes = 0; ///< Bytes of the rank that needs most.

  /// Writes the plan, sorted, with a line for each option.
  std::string json() const;
};

/// Identifies the model of a config.json, its directory, or an nn program.
/// Returns what is wrong, or "".
std::string identify(const std::string &path, ModelIdentity &model);

/// Returns what is wrong, or "". Options may be unknown to the command line.
std::string readPlan(const std::string &path, PlanFile &plan);

/// Returns whether a plan, read from `path`, is of the model at `model`.
/// Returns an error that names both, or "".
std::string checkModel(const PlanFile &plan, const std::string &path,
                       const std::string &model);

} // namespace tessera::plan

#endif // TESSERA_PLAN_PLANFILE_H
