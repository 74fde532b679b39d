//===- SearchSpace.h - which plans there are --------------------*- C++ -*-===//
// Factors of the number of ranks as meshes, with the options that matter to
// time and memory. What the compiler refuses of these it says itself.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_PLAN_SEARCHSPACE_H
#define TESSERA_PLAN_SEARCHSPACE_H

#include "tessera/Options/PlanFlags.h"
#include <map>
#include <string>
#include <vector>

namespace tessera::plan {

struct SearchSpace {
  PlanOptions base; ///< With the batch, in sequences.
  /// Options and texts that are as in `base`: {"--mesh", "dp=2"}.
  std::map<std::string, std::string> given;
  int64_t ranks = 1, devicesPerNode = 1;
  int64_t layers = 1;   ///< Layers of the model.
  int64_t sequence = 1; ///< Tokens.
  bool hasExperts = false;

  /// Returns whether the search chooses what each layer recomputes.
  bool choosesLayers() const;
  /// Returns whether a flag of this purpose is given.
  bool isGiven(FlagPurpose purpose) const;
};

/// Sequences of a micro-batch on a rank, with padding.
int64_t microBatchOf(const PlanOptions &plan);

struct FirstPlans {
  std::vector<PlanOptions> plans;
  std::string problem; ///< Why the first one is refused, if all are.
};

/// Returns plans to begin with: all meshes with `tp` within a node, be they
/// padded or not, sizes of micro-batches, schedules and ways to recompute;
/// sequence parallelism and ZeRO as they usually pay. Plans that ignore or
/// contradict what is given are left out.
FirstPlans firstPlans(const SearchSpace &space);

/// Times and bytes of one rank of each stage, as far as they are known.
struct StageLoads {
  std::vector<double> seconds; ///< Time in which it does not wait for others.
  std::vector<double> bytes;
};

/// Plans that differ in one option, in the order of the mesh's axes, or, where
/// `plan` has cuts of its own, in a layer that leaves the slowest stage or the
/// fullest. Layers that recompute otherwise than the rest are left out of plans
/// with other stages or another way to recompute.
std::vector<PlanOptions> plansNextTo(const SearchSpace &space,
                                     const PlanOptions &plan,
                                     const StageLoads &loads);

/// Returns numbers of layers in `chunks` that are as equal as they can be. The
/// chunks in the middle have one more: the first and the last have the
/// embedding and the head.
std::vector<int64_t> evenCuts(int64_t layers, int64_t chunks);

/// Tells the plans of one search apart.
std::string keyOf(const PlanOptions &plan);

/// The options that a search chooses, with the values of `plan`, and those that
/// are given; as PlanFile has them.
std::vector<std::pair<std::string, std::string>>
chosenOptions(const SearchSpace &space, const PlanOptions &plan);

} // namespace tessera::plan

#endif // TESSERA_PLAN_SEARCHSPACE_H
