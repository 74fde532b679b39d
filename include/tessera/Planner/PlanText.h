//===- PlanText.h - plans that were found, as text and JSON -----*- C++ -*-===//

#ifndef TESSERA_PLANNER_PLANTEXT_H
#define TESSERA_PLANNER_PLANTEXT_H

#include "tessera/Planner/Planner.h"
#include "llvm/Support/JSON.h"

namespace tessera {

/// A search and what it found.
struct PlanText {
  const PlanningResult &result;
  const plan::SearchSpace &space;
  const simulate::Cluster &cluster;
  const PlanningOptions &asked;

  std::string text(size_t width) const;
  llvm::json::Value json() const;
};

/// Plans none of which another beats in time and memory, fastest first.
std::vector<const PlannedStep *> paretoFront(const PlanningResult &result);

/// "5 % more network", "needs 3.1 GiB more than there is".
std::string whyWorse(const PlannedStep &step, const PlanningResult &result);

/// A plan as a file has it, and what it comes to.
struct ExplainedPlan {
  std::vector<std::pair<std::string, std::string>> options;
  Evaluation of;
};

/// Options, times and memory of two plans, line by line.
std::string compareSteps(const ExplainedPlan &first,
                         const ExplainedPlan &second, size_t width);
/// Compares them as JSON: {"first": ..., "second": ...}.
llvm::json::Value compareStepsJson(const ExplainedPlan &first,
                                   const ExplainedPlan &second);

} // namespace tessera

#endif // TESSERA_PLANNER_PLANTEXT_H
