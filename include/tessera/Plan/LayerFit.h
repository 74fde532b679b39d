//===- LayerFit.h - how many layers have to recompute -----------*- C++ -*-===//
// A plan that needs too much memory fits if some of its layers recompute more.
// Stages need different numbers of such layers: the first ones have more
// micro-batches in flight.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_PLAN_LAYERFIT_H
#define TESSERA_PLAN_LAYERFIT_H

#include "tessera/Options/PlanOptions.h"
#include <optional>
#include <vector>

namespace tessera::plan {

/// The layers of a stage in the order in which they begin to recompute: first
/// those that save most.
struct StageLayers {
  std::vector<int64_t> layers;
  /// Micro-batches for which the stage has the values of each layer, at the
  /// time when it has most.
  std::vector<double> copies;
};

/// Returns the layers of each stage. `chunks` has the numbers of the layers of
/// each chunk. The first layers of a chunk come first: what a layer recomputes
/// then has the place of what later layers kept.
std::vector<StageLayers>
stageLayers(const PlanOptions &plan,
            const std::vector<std::vector<int64_t>> &chunks);

/// The bytes of a stage whose first `count` layers recompute.
struct StageBytes {
  int64_t count = 0;
  double bytes = 0;
};

/// Returns the least number of layers with which a stage seems to fit into
/// `limit`, of which `known` tells at least one. A layer saves `saved` bytes
/// for each of its copies, or as much as the known numbers say. A number that
/// is known is the answer only if no better one is left. Nothing: no number
/// seems to fit.
std::optional<int64_t> leastCount(const StageLayers &stage, double saved,
                                  const std::vector<StageBytes> &known,
                                  double limit);

/// Returns one layer fewer than the least known number that fits, unless that
/// is known to be too few; nullopt if no known number fits.
std::optional<int64_t> oneFewer(const StageLayers &stage,
                                const std::vector<StageBytes> &known,
                                double limit);

/// Returns ranges in which the first `counts[s]` layers of each stage s are of
/// `mode`.
LayerRecompute layerRanges(const std::vector<StageLayers> &stages,
                           const std::vector<int64_t> &counts, Recompute mode);

/// Returns how many layers of a stage are of `mode`, where `plan` gives layers
/// their own.
int64_t countOf(const StageLayers &stage, const PlanOptions &plan,
                Recompute mode);

} // namespace tessera::plan

#endif // TESSERA_PLAN_LAYERFIT_H
