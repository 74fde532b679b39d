//===- Estimates.h - plans from samples of few layers -----------*- C++ -*-===//
// Time and memory of a program are linear in its layers and micro-batches:
// plans of one and two layers, compiled and simulated, give the coefficients
// for any number. What a pipeline makes of them is a formula, so estimates say
// only which plans to compile whole.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_PLANNER_ESTIMATES_H
#define TESSERA_PLANNER_ESTIMATES_H

#include "tessera/Planner/Evaluation.h"
#include "tessera/Target/TemporaryFile.h"
#include <map>
#include <optional>

namespace tessera {

struct Estimate {
  std::string problem; ///< Why the plan cannot be compiled; "": nothing known.
  double seconds = 0;
  double bytes = 0;
};

/// The plan without stages and with few micro-batches, as large as before: of
/// plans with equal samples one is compiled.
PlanOptions sampleOf(const PlanOptions &plan);

/// Programs of one and two layers (of each stack), with so many micro-batches
/// or one less, or with one if the plan has neither more nor stages.
struct Sample {
  static constexpr int64_t kMicroBatches = 3;
  /// Indexed by layers (1 or 2) - 1, with one less or with all.
  Evaluation of[2][2];
  /// For a CPU, the part of the cores that the ranks of a sample use. Ranks of
  /// the plan's other stages use as much, or what is left.
  double coreShare = 0;
};

/// Plans whose samples have the same key have equal samples.
std::string sampleKey(const PlanOptions &plan,
                      const simulate::Cluster &cluster);

/// Makes copies of a config.json with one and with two layers, in temporary
/// files that are removed with it.
class SampledModel {
public:
  llvm::Error make(const std::string &path);
  std::string path(int64_t layers) const;

private:
  TemporaryFile copies[2];
};

Sample takeSample(const SampledModel &model, const PlanOptions &plan,
                  const simulate::Cluster &cluster);

Estimate estimate(const Sample &sample, const PlanOptions &plan,
                  int64_t layers);

/// The time and memory of one layer of a plan.
struct LayerCost {
  double seconds = 0; ///< In a step, on the ranks that have it.
  double bytes = 0;   ///< For a micro-batch, from forward to backward.
};

/// Nothing if a sample cannot be compiled.
std::optional<LayerCost> layerCost(const Sample &sample,
                                   const PlanOptions &plan);

/// Returns how much longer a step takes if each of its stages takes a second
/// longer.
double withBubble(const PlanOptions &plan);

} // namespace tessera

#endif // TESSERA_PLANNER_ESTIMATES_H
