//===- Stages.cpp - chunks of the model on pipeline stages ----------------===//
// The part of a sharding plan that concerns `pp`: an op lives at the stage of
// its chunk, and a parameter at the stage that uses it.
//===----------------------------------------------------------------------===//

#include "lib/Distribute/Placement.h"
#include "tessera/Dialect/Dist/Chunks.h"
#include "tessera/Options/MeshAxis.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::dist;

SmallVector<StringAttr> ShardingPlan::axes() const {
  SmallVector<StringAttr> axes;
  for (StringAttr axis : mesh.getAxes())
    if (mesh.getSize(axis) > 1)
      axes.push_back(axis);
  llvm::stable_sort(axes, [](StringAttr a, StringAttr b) {
    auto rank = [](StringAttr axis) {
      return axis == kPipelineAxis ? 0 : axis == kTensorAxis ? 2 : 1;
    };
    return rank(a) < rank(b);
  });
  return axes;
}

int64_t ShardingPlan::stages() const {
  return mesh ? mesh.getSize(kPipelineAxis) : 1;
}

std::optional<State> ShardingPlan::stageOf(Operation *op) const {
  std::optional<int64_t> chunk = chunkOf(op);
  if (stages() == 1 || !chunk)
    return std::nullopt;
  return State{State::A, *chunk % stages()};
}

/// A parameter that several stages use rests at the first one, which sends it
/// to the others.
RankedTensorType ShardingPlan::atStage(BlockArgument parameter) const {
  auto type = cast<RankedTensorType>(parameter.getType());
  std::optional<int64_t> first;
  for (Operation *user : parameter.getUsers()) {
    std::optional<int64_t> chunk = chunkOf(user);
    if (!chunk)
      return type;
    first = std::min(first.value_or(*chunk), *chunk);
  }
  return first && stages() > 1
             ? withState(type, kPipelineAxis, {State::A, *first % stages()})
             : type;
}
