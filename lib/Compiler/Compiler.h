//===- Compiler.h - a model and its plan ------------------------*- C++ -*-===//
// The C API is about this class. Errors are returned, never printed.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_COMPILER_COMPILER_H
#define TESSERA_LIB_COMPILER_COMPILER_H

#include "tessera/Options/PlanFlags.h"
#include "tessera/Plan/PlanFile.h"
#include "tessera/Planner/PlanningOptions.h"
#include "tessera/Predict/ClusterDevice.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

namespace tessera {

/// Programs compare verdicts, not texts: this is what verify comes to.
struct VerifiedPlan {
  bool isVerified = false;
  llvm::json::Value json;
};

class Compiler {
public:
  explicit Compiler(const std::string &path) { model.model = path; }

  /// Sets an option of the table of flags, "mesh".
  llvm::Error set(const std::string &name, const std::string &text);
  /// Sets what a plan file says; it must not contradict what is set.
  llvm::Error loadPlan(const std::string &path);
  llvm::Error savePlan(const std::string &path) const;
  /// Takes the best plan that is found, with the options of `search` that are
  /// no plan's.
  llvm::Expected<llvm::json::Value> findPlan(const PlanningOptions &search,
                                             const std::string &cluster);

  llvm::Expected<llvm::json::Value> report() const;
  llvm::Expected<llvm::json::Value> simulate(const std::string &cluster) const;
  llvm::Expected<VerifiedPlan> verify() const;
  llvm::Error compile(const std::string &path) const;

  Progress listener; ///< Is told of progress and notes.

private:
  llvm::Error take(plan::PlanFile file);
  GivenFlags given() const;
  TakenFromCluster taken() const;
  /// Returns what is given, but for what a cluster decides.
  GivenFlags givenForCluster() const;
  llvm::Expected<PlannedModel> planned() const;
  llvm::Expected<PlannedModel>
  plannedFor(const simulate::Cluster &cluster) const;
  llvm::Expected<PlanningOptions>
  searchFor(const PlanningOptions &search,
            const simulate::Cluster &cluster) const;

  PlannedModel model;
  /// Options that were set, without dashes, and their texts.
  std::map<std::string, std::string> texts;
  plan::PlanFile found; ///< Predictions of the plan that was found, if any.
};

} // namespace tessera

#endif // TESSERA_LIB_COMPILER_COMPILER_H
