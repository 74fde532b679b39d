//===- LayerModes.cpp - what each layer of an artifact recomputes ---------===//

#include "tools/tessera/report/LayerModes.h"

using namespace llvm;
using namespace tessera;

/// Reads the modes as the pass nn-recompute sets them: `layers` are the first
/// of --recompute full, and the rest is like what is in no layer.
bool LayerModes::read(const json::Object &root) {
  const json::Object *again = root.getObject("recompute");
  if (!again)
    return true;
  Recompute mode =
      fromName<Recompute>(again->getString("mode").value_or("").str())
          .value_or(Recompute::None);
  int64_t count = again->getInteger("layers").value_or(-1);
  LayerRecompute given;
  std::string ranges = again->getString("ranges").value_or("").str();
  if (!given.parse(ranges).empty())
    return false;
  const json::Array *names = again->getArray("names");
  outside = mode;
  if (!names)
    return given.ranges.empty() && count < 0;
  outside = mode == Recompute::Full ? Recompute::Selective : mode;
  for (const json::Value &name : *names) {
    auto number = static_cast<int64_t>(modes.size());
    numbers[name.getAsString().value_or("")] = number;
    modes.push_back(count < 0 || number < count ? mode : outside);
  }
  for (const LayerRange &range : given.ranges)
    for (int64_t layer = range.first; layer <= range.last; ++layer) {
      if (layer >= static_cast<int64_t>(modes.size()))
        return false;
      modes[layer] = range.recompute;
    }
  return true;
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
