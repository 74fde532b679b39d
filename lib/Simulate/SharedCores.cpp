//===- SharedCores.cpp - more ranks than cores ----------------------------===//

#include "lib/Simulate/SharedCores.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace tessera::simulate;

namespace {

/// A stage begins or ends something that its threads run.
struct Change {
  double time;
  size_t stage;
  int64_t change; ///< 1 or -1.
};

/// Threads of one stage's ranks, by node.
using ThreadsOfNodes = std::vector<double>;

} // namespace

static std::vector<ThreadsOfNodes> threadsOfStages(const Program &program,
                                                   const Cluster &cluster) {
  std::vector<ThreadsOfNodes> threads(
      program.stages.size(),
      ThreadsOfNodes(static_cast<size_t>(cluster.nodes)));
  int64_t ranks = program.ranks();
  auto each = static_cast<double>(cluster.threadsOf(ranks));
  for (int64_t rank = 0; rank < ranks; ++rank)
    threads[program.stageOf(rank)][rank / cluster.devicesPerNode] += each;
  return threads;
}

static std::vector<Change> changesOf(const StepTimes &own) {
  std::vector<Change> changes;
  for (size_t stage = 0; stage < own.stages.size(); ++stage)
    for (const Span &span : own.stages[stage].spans)
      if (span.kind != Span::Wait && span.begin < span.end) {
        changes.push_back({span.begin, stage, 1});
        changes.push_back({span.end, stage, -1});
      }
  llvm::sort(changes,
             [](const Change &a, const Change &b) { return a.time < b.time; });
  return changes;
}

SharedCores::SharedCores(const Program &program, const Cluster &cluster,
                         const StepTimes &own) {
  std::vector<ThreadsOfNodes> threads = threadsOfStages(program, cluster);
  ThreadsOfNodes working(static_cast<size_t>(cluster.nodes));
  auto cores = static_cast<double>(cluster.coresPerNode);
  points.push_back({0, 0, 1});
  std::vector<Change> changes = changesOf(own);
  for (size_t i = 0; i < changes.size(); ++i) {
    auto [time, stage, change] = changes[i];
    for (auto [all, its] : llvm::zip(working, threads[stage]))
      all += static_cast<double>(change) * its;
    if (i + 1 < changes.size() && changes[i + 1].time == time)
      continue;
    double most = *std::max_element(working.begin(), working.end());
    double stretch = std::max(most / cores, 1.0);
    if (stretch != points.back().stretch)
      points.push_back({time, at(time), stretch});
  }
}

double SharedCores::at(double time) const {
  auto after = std::upper_bound(
      points.begin(), points.end(), time,
      [](double time, const Point &point) { return time < point.own; });
  if (after != points.begin())
    --after;
  return after->shared + (time - after->own) * after->stretch;
}
