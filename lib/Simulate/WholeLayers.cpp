//===- WholeLayers.cpp - layers that are recomputed whole -----------------===//

#include "lib/Simulate/WholeLayers.h"
#include <set>

using namespace tessera::simulate;

WholeLayers::WholeLayers(const StageProgram &stage) : stage(stage) {
  auto count = static_cast<int64_t>(stage.calls.size());
  std::set<int64_t> waits; // for messages
  for (int64_t index = 0; index < count; ++index) {
    const Call &call = stage.calls[index];
    bool isMessage =
        call.kind == CallKind::Send || call.kind == CallKind::Receive;
    if (isMessage && call.wait)
      waits.insert(call.wait);
    if (call.layerInProgram < 0 || !call.isForward() || isMessage ||
        waits.count(index))
      continue;
    CallRange &range = forward[call.layerInProgram];
    if (range.end != index)
      range.begin = index;
    range.end = index + 1;
  }
}

std::vector<CallRange> WholeLayers::inPlaceOf(CallRange calls) const {
  std::vector<CallRange> ranges;
  std::set<int64_t> repeated;
  bool goesOn = false; // the last range is of calls that stay
  for (int64_t index = calls.begin; index < calls.end; ++index) {
    const Call &call = stage.calls[index];
    auto layer = forward.find(call.layerInProgram);
    if (call.recomputes() && call.layerMode == Recompute::Full &&
        layer != forward.end()) {
      if (repeated.insert(call.layerInProgram).second)
        ranges.push_back(layer->second);
      goesOn = false;
    } else if (goesOn) {
      ++ranges.back().end;
    } else {
      ranges.push_back({index, index + 1});
      goesOn = true;
    }
  }
  return ranges;
}
