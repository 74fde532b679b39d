//===- Planner.h - the best plans of a model on a cluster -------*- C++ -*-===//

#ifndef TESSERA_PLANNER_PLANNER_H
#define TESSERA_PLANNER_PLANNER_H

#include "tessera/Plan/Search.h"
#include "tessera/Plan/SearchSpace.h"
#include "tessera/Planner/LayerFamilies.h"
#include "tessera/Planner/PlanningOptions.h"
#include <tuple>

namespace tessera {

/// A plan that was compiled whole.
struct PlannedStep {
  PlanOptions plan;
  Evaluation of;
  /// While a search runs, as if it had chosen no layers that recompute
  /// otherwise than the rest; in its result, not of plans of which it chose
  /// them.
  std::optional<Estimate> estimate;

  bool fits(double limit) const {
    return of.problem.empty() && static_cast<double>(of.bytes) <= limit;
  }
  /// Returns the seconds of all devices, per step.
  double deviceSeconds() const {
    return of.seconds * static_cast<double>(of.ranks);
  }
};

struct PlanningResult {
  /// Steps that fit come first, the best of them first.
  std::vector<PlannedStep> steps;
  size_t fitting = 0;            ///< The number of those that fit.
  size_t first = 0, sampled = 0; ///< Plans to begin with, samples of them.
  bool isComplete = false;
  double memoryLimit = 0;
  /// Largest error of the estimated seconds, as a share.
  double largestError = 0;
  std::string problem; ///< The first plan that was refused; of an empty list.
};

class Planner {
public:
  Planner(const PlanningOptions &options, const simulate::Cluster &cluster,
          const ModelFacts &facts);
  llvm::Expected<PlanningResult> run();
  const plan::SearchSpace &searchSpace() const { return space; }

private:
  void takeSamples();
  const Sample &sampleFor(const PlanOptions &plan);
  double objectiveOf(const PlanOptions &plan, const Estimate &of) const;
  bool hasChosenLayers(const PlanOptions &plan) const;
  bool isAsEstimated(const PlannedStep &step) const;
  double estimateOf(const PlannedStep &step) const;
  double costOf(const PlannedStep &step) const;
  double exactOf(const PlannedStep &step) const;
  void estimateAll();
  plan::Guess guessOf(size_t number);
  plan::Guess guessFrom(const PlannedStep &from, size_t number);
  std::vector<plan::Outcome> evaluate(const std::vector<size_t> &numbers);
  std::vector<plan::Guess> neighbours(size_t number);
  std::vector<plan::Guess> followers(size_t number);
  size_t numberOf(const PlanOptions &plan);
  void addPlans();
  void verifyBest(PlanningResult &result) const;
  PlanningResult resultOf(const plan::SearchResult &found);

  const PlanningOptions &options;
  const simulate::Cluster &cluster;
  const ModelFacts &facts;
  plan::SearchSpace space;
  double memoryLimit;
  size_t threads;
  std::vector<PlannedStep> plans;
  std::string refusal; ///< Why all plans to begin with are refused, if any is.
  std::map<std::string, size_t> numbers; ///< Keyed by the plan's options.
  SampledModel sampled;
  std::map<std::string, Sample> samples;
  /// Groups of estimates, by stages, virtual stages and schedule.
  std::map<std::tuple<int64_t, int64_t, ScheduleKind>, size_t> pipelines;
  LayerFamilies families;
  double best; ///< The least cost so far.
};

/// Calls `work` for the numbers below `count`, in several threads.
void forEachNumber(size_t count, size_t threads,
                   const std::function<void(size_t)> &work);

} // namespace tessera

#endif // TESSERA_PLANNER_PLANNER_H
