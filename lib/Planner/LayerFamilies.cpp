//===- LayerFamilies.cpp - plans whose layers recompute differently -------===//

#include "tessera/Planner/LayerFamilies.h"
#include "tessera/Plan/SearchSpace.h"
#include "llvm/ADT/STLExtras.h"

using namespace tessera;

/// Compiled plans of a family after which no more are suggested.
static constexpr size_t kMostOfFamily = 8;

/// Returns whether a plan is one of those whose layers are of these two modes.
static bool belongs(const PlanOptions &plan, RecomputePair pair) {
  const auto &ranges = plan.memory.layerRecompute.ranges;
  Recompute mode = plan.memory.recompute;
  if (ranges.empty())
    return mode == pair.light || mode == pair.heavy;
  return mode == pair.light && ranges.front().recompute == pair.heavy;
}

/// Returns whether the layers of all chunks of the plan are known.
static bool hasChunks(const PlanOptions &plan, const Evaluation &of) {
  int64_t stages = plan.mesh.sizeOf(MeshAxis::Pipeline);
  int64_t chunks = stages == 1 ? 1 : stages * plan.stages.virtualStages;
  return static_cast<int64_t>(of.chunks.size()) == chunks;
}

static PlanOptions lightOf(PlanOptions plan, RecomputePair pair) {
  plan.memory.recompute = pair.light;
  plan.memory.layerRecompute = {};
  return plan;
}

static std::string keyOf(const PlanOptions &light, Recompute heavy) {
  return plan::keyOf(light) + nameOf(heavy);
}

LayerFamilies::Family LayerFamilies::makeFamily(const PlanOptions &light,
                                                Recompute heavy,
                                                const Evaluation &of) const {
  Family family{light, heavy, {}, {}, 0, 0};
  PlanOptions other = light;
  other.memory.recompute = heavy;
  std::optional<LayerCost> less = layerCost(sampleOf(light), light),
                           more = layerCost(sampleOf(other), other);
  if (!less || !more)
    return family;
  family.seconds = more->seconds - less->seconds;
  family.bytes = less->bytes - more->bytes;
  // Otherwise the heavy mode is no worse or no help.
  if (family.seconds > 0 && family.bytes > 0)
    family.stages = plan::stageLayers(light, of.chunks);
  family.known.resize(family.stages.size());
  return family;
}

/// Null: nothing is to be gained from it.
LayerFamilies::Family *LayerFamilies::familyOf(const PlanOptions &plan,
                                               RecomputePair pair,
                                               const Evaluation &of) {
  PlanOptions light = lightOf(plan, pair);
  std::string key = keyOf(light, pair.heavy);
  auto found = families.find(key);
  if (found == families.end())
    found = families.emplace(key, makeFamily(light, pair.heavy, of)).first;
  Family &family = found->second;
  bool isKnown = family.stages.size() == of.stages.bytes.size();
  return isKnown ? &family : nullptr;
}

/// Returns the seconds of a step if stages recompute so many layers instead of
/// `before`.
static double secondsWith(const Evaluation &of, double ofLayer, double bubble,
                          const std::vector<int64_t> &before,
                          const std::vector<int64_t> &counts) {
  double most = 0, change = 0;
  for (double busy : of.stages.seconds)
    most = std::max(most, busy);
  change = -most;
  for (auto [busy, old, count] : llvm::zip(of.stages.seconds, before, counts))
    change = std::max(change,
                      busy - most + ofLayer * static_cast<double>(count - old));
  return of.seconds + bubble * change;
}

std::optional<LayerFamilies::Suggestion>
LayerFamilies::next(Family &family, const PlanOptions &plan,
                    const Evaluation &of) const {
  std::vector<int64_t> counts, wanted;
  bool isNone = true, isAll = true, isFull = false;
  for (size_t stage = 0; stage < family.stages.size(); ++stage) {
    const plan::StageLayers &layers = family.stages[stage];
    std::vector<plan::StageBytes> &known = family.known[stage];
    counts.push_back(plan::countOf(layers, plan, family.heavy));
    llvm::erase_if(known, [&](const plan::StageBytes &point) {
      return point.count == counts.back();
    });
    known.push_back({counts.back(), of.stages.bytes[stage]});
    isFull |= known.size() >= kMostOfFamily;
    std::optional<int64_t> least =
        plan::leastCount(layers, family.bytes, known, limit);
    wanted.push_back(least.value_or(-1));
    isNone &= wanted.back() == 0;
    isAll &= wanted.back() == static_cast<int64_t>(layers.layers.size());
  }
  if (isNone || isAll || isFull || wanted == counts ||
      llvm::is_contained(wanted, -1))
    return std::nullopt;
  Suggestion suggestion{family.light, 0};
  suggestion.plan.memory.layerRecompute =
      plan::layerRanges(family.stages, wanted, family.heavy);
  suggestion.seconds =
      secondsWith(of, family.seconds, withBubble(plan), counts, wanted);
  return suggestion;
}

std::vector<LayerFamilies::Suggestion>
LayerFamilies::add(const PlanOptions &plan, const Evaluation &of) {
  std::vector<Suggestion> suggestions;
  for (RecomputePair pair : kRecomputePairs) {
    Family *family = !hasChunks(plan, of) || !belongs(plan, pair)
                         ? nullptr
                         : familyOf(plan, pair, of);
    if (!family)
      continue;
    if (std::optional<Suggestion> suggestion = next(*family, plan, of))
      suggestions.push_back(*suggestion);
  }
  return suggestions;
}

std::optional<PlanOptions>
LayerFamilies::oneFewer(const PlanOptions &plan) const {
  const auto &ranges = plan.memory.layerRecompute.ranges;
  if (ranges.empty())
    return std::nullopt;
  RecomputePair pair{plan.memory.recompute, ranges.front().recompute};
  auto found = families.find(keyOf(lightOf(plan, pair), pair.heavy));
  if (found == families.end())
    return std::nullopt;
  const Family &family = found->second;
  std::vector<int64_t> counts;
  for (auto [layers, known] : llvm::zip(family.stages, family.known)) {
    std::optional<int64_t> count = plan::oneFewer(layers, known, limit);
    if (!count)
      return std::nullopt;
    counts.push_back(*count);
  }
  PlanOptions fewer = family.light;
  fewer.memory.layerRecompute =
      plan::layerRanges(family.stages, counts, family.heavy);
  return fewer;
}
