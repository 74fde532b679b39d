//===- PlannedModel.h - a model, and how it is compiled ---------*- C++ -*-===//

#ifndef TESSERA_PIPELINES_PLANNEDMODEL_H
#define TESSERA_PIPELINES_PLANNEDMODEL_H

#include "tessera/Options/PlanOptions.h"
#include <string>
#include <vector>

namespace tessera {

/// The models that a command takes.
enum class ModelKinds { Sources, SourcesAndArtifacts };

/// A model that is a file or a folder.
struct ModelArgument {
  std::string model; ///< config.json, directory, .mlir or .tsr.
  /// Files with public keys: one of them must have signed the .tsr file.
  std::vector<std::string> trustedKeys;

  bool isArtifact() const { return modelEndsWith(".tsr"); }
  /// Returns whether the model is an nn program, whose sizes are fixed, rather
  /// than a config.
  bool isProgram() const {
    return modelEndsWith(".mlir") || modelEndsWith(".mlirbc");
  }

private:
  bool modelEndsWith(const std::string &extension) const {
    return model.size() > extension.size() &&
           model.compare(model.size() - extension.size(), std::string::npos,
                         extension) == 0;
  }
};

/// A model, and how it is compiled.
struct PlannedModel : ModelArgument {
  /// A run has a length, unlike a program that is only compiled.
  PlannedModel() {
    plan.learningRate.warmupSteps = 10;
    plan.learningRate.totalSteps = 100;
  }

  PlanOptions plan;
  std::string planFile; ///< It says the rest of `plan`.
  int64_t ranks = 0;    ///< The most that the mesh may have.
  /// The first one of several processes alone says what is chosen.
  bool isFirstProcess = true;
};

} // namespace tessera

#endif // TESSERA_PIPELINES_PLANNEDMODEL_H
