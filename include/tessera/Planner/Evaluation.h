//===- Evaluation.h - what a plan needs and how long it takes ---*- C++ -*-===//

#ifndef TESSERA_PLANNER_EVALUATION_H
#define TESSERA_PLANNER_EVALUATION_H

#include "mlir/IR/MLIRContext.h"
#include "tessera/Options/PlanOptions.h"
#include "tessera/Plan/SearchSpace.h"
#include "tessera/Simulate/Simulate.h"
#include <string>
#include <utility>
#include <vector>

namespace tessera {

/// The evaluation of a plan that was compiled and simulated.
struct Evaluation {
  std::string problem; ///< Why it cannot be compiled; "": it can.
  double seconds = 0;  ///< Time of a step.
  int64_t bytes = 0;   ///< Memory of the rank that needs most.
  int64_t ranks = 1, tokens = 0;
  /// Times of a step, by simulate::Activity: means over stages.
  std::array<double, simulate::kActivities> activities = {};
  plan::StageLoads stages; ///< The stages of a pipeline, or one for all ranks.
  /// Numbers of the layers of each of their chunks; empty: not known.
  std::vector<std::vector<int64_t>> chunks;
  /// Named by kind: "parameters", "activations".
  std::vector<std::pair<std::string, int64_t>> memory;
};

/// Facts about a model that are known before it is compiled.
struct ModelFacts {
  int64_t layers = 0, sequence = 0;
  bool hasExperts = false;
};

/// Imports the model at `path`. Errors are diagnostics of the context.
mlir::FailureOr<ModelFacts> readFacts(mlir::MLIRContext &context,
                                      const std::string &path,
                                      const PlanOptions &plan);

/// States if MLIR's verifier runs when a plan is compiled. It takes a third of
/// the time, and has had its say about a plan's sample: a search leaves it out,
/// but for samples and the best plan.
enum class Verification { None, AfterEachPass };

/// Compiles the training step of the model at `path`, without code, and
/// simulates it. It may run in several threads.
Evaluation evaluatePlan(const std::string &path, const PlanOptions &plan,
                        const simulate::Cluster &cluster,
                        Verification verification);

/// The same with one micro-batch less, and as given, of one compilation where
/// micro-batches run in loops: each loop once less. `plan` has at least three,
/// and no stages.
std::pair<Evaluation, Evaluation>
evaluateMicroBatches(const std::string &path, const PlanOptions &plan,
                     const simulate::Cluster &cluster);

} // namespace tessera

#endif // TESSERA_PLANNER_EVALUATION_H
