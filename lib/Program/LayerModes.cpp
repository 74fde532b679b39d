//===- LayerModes.cpp - the layers of a program and their modes -----------===//

#include "tessera/Program/Program.h"

using namespace llvm;
using namespace tessera;
using namespace tessera::program;

/// The pass nn-recompute does the same: `layers` are the first of --recompute
/// full, and the rest is as what is in no layer.
std::optional<LayerModes>
LayerModes::of(const std::optional<Recomputation> &recompute) {
  LayerModes all;
  if (!recompute)
    return all;
  Recompute mode =
      fromName<Recompute>(recompute->mode).value_or(Recompute::None);
  int64_t count = recompute->layers;
  LayerRecompute given;
  if (!given.parse(recompute->ranges).empty())
    return std::nullopt;
  all.outside = mode;
  if (!recompute->names)
    return given.ranges.empty() && count < 0 ? std::optional(all)
                                             : std::nullopt;
  all.outside = mode == Recompute::Full ? Recompute::Selective : mode;
  for (const std::string &name : *recompute->names) {
    auto number = static_cast<int64_t>(all.modes.size());
    all.numbers[name] = number;
    all.modes.push_back(count < 0 || number < count ? mode : all.outside);
  }
  for (const LayerRange &range : given.ranges)
    for (int64_t layer = range.first; layer <= range.last; ++layer) {
      if (layer >= static_cast<int64_t>(all.modes.size()))
        return std::nullopt;
      all.modes[layer] = range.recompute;
    }
  return all;
}

std::optional<int64_t> LayerModes::layerOf(StringRef part) const {
  for (StringRef name = part; !name.empty(); name = name.rsplit('.').first) {
    if (auto found = numbers.find(name); found != numbers.end())
      return found->second;
    if (!name.contains('.'))
      break;
  }
  return std::nullopt;
}

Recompute LayerModes::modeOf(StringRef part) const {
  std::optional<int64_t> layer = layerOf(part);
  return layer ? modes[*layer] : outside;
}
