//===- LayerFit.cpp - how many layers have to recompute -------------------===//

#include "tessera/Plan/LayerFit.h"
#include "tessera/Schedule/PipelineSchedule.h"
#include <algorithm>
#include <set>

using namespace tessera;
using tessera::plan::StageBytes;
using tessera::plan::StageLayers;

//===----------------------------------------------------------------------===//
// The order of layers
//===----------------------------------------------------------------------===//

/// For each chunk the micro-batches that are between its forward task and its
/// last backward task when its stage has the values of most layers.
static std::vector<double>
copiesOf(const PlanOptions &plan,
         const std::vector<std::vector<int64_t>> &chunks) {
  std::vector<double> copies(chunks.size(), 1);
  int64_t stages = plan.mesh.sizeOf(MeshAxis::Pipeline);
  if (stages == 1)
    return copies;
  pipeline::PipelineSchedule schedule = pipeline::makeSchedule(
      plan.stages.schedule,
      {stages, plan.stages.virtualStages, plan.sizes.microBatches});
  pipeline::TaskKind last = schedule.splitsBackward()
                                ? pipeline::TaskKind::Weights
                                : pipeline::TaskKind::Backward;
  for (int64_t stage = 0; stage < stages; ++stage) {
    std::vector<double> held(chunks.size(), 0);
    double all = 0, most = 0;
    for (const pipeline::Task &task : schedule.stages[stage]) {
      if (task.kind != pipeline::TaskKind::Forward && task.kind != last)
        continue;
      double change = task.kind == last ? -1 : 1;
      held[task.chunk] += change;
      all += change * static_cast<double>(chunks[task.chunk].size());
      if (all <= most)
        continue;
      most = all;
      for (size_t chunk = stage; chunk < chunks.size(); chunk += stages)
        copies[chunk] = held[chunk];
    }
  }
  return copies;
}

std::vector<StageLayers>
plan::stageLayers(const PlanOptions &plan,
                  const std::vector<std::vector<int64_t>> &chunks) {
  std::vector<double> copies = copiesOf(plan, chunks);
  std::vector<size_t> order;
  for (size_t chunk = 0; chunk < chunks.size(); ++chunk)
    order.push_back(chunk);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return copies[a] > copies[b]; });
  std::vector<StageLayers> stages(plan.mesh.sizeOf(MeshAxis::Pipeline));
  for (size_t chunk : order)
    for (int64_t layer : chunks[chunk]) {
      StageLayers &stage = stages[chunk % stages.size()];
      stage.layers.push_back(layer);
      stage.copies.push_back(copies[chunk]);
    }
  return stages;
}

//===----------------------------------------------------------------------===//
// Numbers of layers
//===----------------------------------------------------------------------===//

namespace {

/// Brackets the number of a stage's layers between too few and enough.
class Bracket {
public:
  Bracket(const StageLayers &stage, double saved,
          const std::vector<StageBytes> &known, double limit)
      : stage(stage), saved(saved), limit(limit) {
    for (const StageBytes &point : known)
      add(point);
  }
  std::optional<int64_t> next() const;
  std::optional<int64_t> oneFewer() const;

private:
  std::optional<int64_t> nextAt(double each) const;
  void add(const StageBytes &point);
  /// Copies of the layers from number `from` to before `to`.
  double copiesBetween(int64_t from, int64_t to) const;
  /// Bytes that a copy saves, between two numbers that are known.
  double rate() const;

  const StageLayers &stage;
  double saved, limit;
  std::optional<StageBytes> enough, tooFew, fewer; ///< The nearest ones.
};

} // namespace

void Bracket::add(const StageBytes &point) {
  if (point.bytes <= limit) {
    if (!enough || point.count < enough->count)
      enough = point;
  } else if (!tooFew || point.count > tooFew->count) {
    fewer = tooFew;
    tooFew = point;
  } else if (!fewer || point.count > fewer->count) {
    fewer = point;
  }
}

double Bracket::copiesBetween(int64_t from, int64_t to) const {
  double sum = 0;
  for (int64_t i = from; i < to; ++i)
    sum += stage.copies[i];
  return sum;
}

double Bracket::rate() const {
  const std::optional<StageBytes> &other = enough ? enough : fewer;
  if (!tooFew || !other || other->count == tooFew->count)
    return saved;
  const StageBytes &less =
      std::min(*other, *tooFew,
               [](const auto &a, const auto &b) { return a.count < b.count; });
  const StageBytes &more = less.count == tooFew->count ? *other : *tooFew;
  return (less.bytes - more.bytes) / copiesBetween(less.count, more.count);
}

std::optional<int64_t> Bracket::nextAt(double each) const {
  auto all = static_cast<int64_t>(stage.layers.size());
  int64_t least = tooFew ? tooFew->count + 1 : 0;
  int64_t most = enough ? enough->count : all + 1;
  for (int64_t count = least; count < most && count <= all; ++count) {
    double bytes =
        tooFew ? tooFew->bytes - each * copiesBetween(tooFew->count, count)
               : enough->bytes + each * copiesBetween(count, enough->count);
    if (bytes <= limit)
      return count;
  }
  return enough ? std::optional(enough->count) : std::nullopt;
}

/// Returns the next number to try. The savings of few layers may say little of
/// the others'.
std::optional<int64_t> Bracket::next() const {
  std::optional<int64_t> measured = nextAt(rate());
  return measured ? measured : nextAt(saved);
}

std::optional<int64_t> Bracket::oneFewer() const {
  if (!enough)
    return std::nullopt;
  int64_t least = tooFew ? tooFew->count + 1 : 0;
  return std::max(least, enough->count - 1);
}

std::optional<int64_t> plan::leastCount(const StageLayers &stage, double saved,
                                        const std::vector<StageBytes> &known,
                                        double limit) {
  return Bracket(stage, saved, known, limit).next();
}

std::optional<int64_t> plan::oneFewer(const StageLayers &stage,
                                      const std::vector<StageBytes> &known,
                                      double limit) {
  return Bracket(stage, 0, known, limit).oneFewer();
}

//===----------------------------------------------------------------------===//
// Conversion to options
//===----------------------------------------------------------------------===//

LayerRecompute plan::layerRanges(const std::vector<StageLayers> &stages,
                                 const std::vector<int64_t> &counts,
                                 Recompute mode) {
  std::set<int64_t> layers;
  for (size_t stage = 0; stage < stages.size(); ++stage)
    layers.insert(stages[stage].layers.begin(),
                  stages[stage].layers.begin() + counts[stage]);
  LayerRecompute result;
  for (int64_t layer : layers) {
    if (result.ranges.empty() || result.ranges.back().last + 1 != layer)
      result.ranges.push_back({layer, layer, mode});
    result.ranges.back().last = layer;
  }
  return result;
}

int64_t plan::countOf(const StageLayers &stage, const PlanOptions &plan,
                      Recompute mode) {
  auto modeOf = [&](int64_t layer) {
    for (const LayerRange &range : plan.memory.layerRecompute.ranges)
      if (layer >= range.first && layer <= range.last)
        return range.recompute;
    return plan.memory.recompute;
  };
  return std::count_if(stage.layers.begin(), stage.layers.end(),
                       [&](int64_t layer) { return modeOf(layer) == mode; });
}
