//===- ArenaReport.cpp - what a rank's memory holds over a step -----------===//

#include "lib/Report/ArenaReport.h"
#include "tessera/Program/PartName.h"
#include "tessera/Program/ProgramJson.h"
#include "llvm/ADT/STLExtras.h"
#include <set>
#include <tuple>
#include <vector>

using namespace llvm;
using namespace tessera;

namespace {

/// Equal values of equal layers.
struct AliveGroup {
  std::string kind, op, place;
  std::set<int64_t> layers;
  int64_t count = 0, bytes = 0;
};

} // namespace

static void addAlive(std::vector<AliveGroup> &groups,
                     const program::AliveValues &entry) {
  int64_t layer = program::layerOfPart(entry.name).number;
  AliveGroup group{entry.kind, entry.op, program::placeOf(entry.name),
                   {},         0,        0};
  auto same = find_if(groups, [&](const AliveGroup &other) {
    return std::tie(other.kind, other.op, other.place) ==
           std::tie(group.kind, group.op, group.place);
  });
  if (same == groups.end())
    same = groups.insert(groups.end(), group);
  if (layer >= 0)
    same->layers.insert(layer);
  same->count += entry.count;
  same->bytes += entry.bytes;
}

static json::Array aliveJson(const std::vector<program::AliveValues> &entries) {
  std::vector<AliveGroup> groups;
  for (const program::AliveValues &entry : entries)
    addAlive(groups, entry);
  llvm::stable_sort(groups, [](const AliveGroup &a, const AliveGroup &b) {
    return a.bytes > b.bytes;
  });
  json::Array list;
  for (const AliveGroup &group : groups)
    list.push_back(
        json::Object{{"kind", group.kind},
                     {"op", group.op},
                     {"where", program::placeText(group.place, group.layers)},
                     {"count", group.count},
                     {"bytes", group.bytes}});
  return list;
}

json::Object tessera::arenaReport(const program::Arena &arena) {
  json::Object kinds;
  for (const auto &[kind, bytes] : arena.byKind)
    if (bytes)
      kinds[kind] = bytes;
  json::Object report{{"bytes", arena.bytes}, {"by_kind", std::move(kinds)}};
  if (arena.overStep) {
    json::Value overStep = program::toJson(*arena.overStep);
    (*overStep.getAsObject())["alive"] = aliveJson(arena.overStep->alive);
    report["over_step"] = std::move(overStep);
  }
  json::Array stages;
  for (const program::Arena &stage : arena.stages)
    stages.push_back(arenaReport(stage));
  if (!stages.empty())
    report["stages"] = std::move(stages);
  return report;
}
