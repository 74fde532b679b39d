//===- LayerFamilies.h - layers that recompute differently ------*- C++ -*-===//
// A family are the plans that are alike but for the number of layers that
// recompute: from none to all. What is compiled of a family says which number
// is the least that fits.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_PLANNER_LAYERFAMILIES_H
#define TESSERA_PLANNER_LAYERFAMILIES_H

#include "tessera/Plan/LayerFit.h"
#include "tessera/Planner/Estimates.h"
#include <functional>
#include <map>
#include <optional>

namespace tessera {

/// The modes of a family's layers: some are `heavy`, the rest `light`.
struct RecomputePair {
  Recompute light, heavy;
};
constexpr RecomputePair kRecomputePairs[] = {
    {Recompute::None, Recompute::Selective},
    {Recompute::None, Recompute::Full},
    {Recompute::Selective, Recompute::Full}};

class LayerFamilies {
public:
  /// The sample of a plan, which may have to be taken.
  using SampleOf = std::function<const Sample &(const PlanOptions &)>;
  LayerFamilies(double limit, SampleOf sampleOf)
      : limit(limit), sampleOf(std::move(sampleOf)) {}

  struct Suggestion {
    PlanOptions plan;
    double seconds = 0; ///< Estimated time of a step.
  };
  /// Notes what a plan came to, and says what of its families to try next.
  std::vector<Suggestion> add(const PlanOptions &plan, const Evaluation &of);
  /// Returns a plan like one that was added, but with one layer fewer in each
  /// stage that is not known to need them all.
  std::optional<PlanOptions> oneFewer(const PlanOptions &plan) const;

private:
  struct Family {
    PlanOptions light; ///< In which no layer recomputes as `heavy`.
    Recompute heavy = Recompute::Full;
    std::vector<plan::StageLayers> stages; ///< Empty: nothing is to be gained.
    /// One list for each stage.
    std::vector<std::vector<plan::StageBytes>> known;
    double seconds = 0; ///< Time that a layer adds to a step if it is `heavy`.
    double bytes = 0;   ///< Bytes that it keeps less for a micro-batch.
  };
  Family makeFamily(const PlanOptions &light, Recompute heavy,
                    const Evaluation &of) const;
  Family *familyOf(const PlanOptions &plan, RecomputePair pair,
                   const Evaluation &of);
  std::optional<Suggestion> next(Family &family, const PlanOptions &plan,
                                 const Evaluation &of) const;

  double limit;
  SampleOf sampleOf;
  std::map<std::string, Family> families;
};

} // namespace tessera

#endif // TESSERA_PLANNER_LAYERFAMILIES_H
