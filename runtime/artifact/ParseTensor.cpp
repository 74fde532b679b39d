//===- ParseTensor.cpp - one entry of "tensors" ---------------------------===//
#include "runtime/artifact/Metadata.h"
#include "runtime/artifact/Sharding.h"
#include "runtime/support/DType.h"
#include "runtime/support/Status.h"

#include <cmath>

namespace tessera {

namespace {
// Large enough for every model, small enough that products below do not
// overflow after the check in `parseShape`.
constexpr int64_t maxDim = int64_t(1) << 40;
constexpr int64_t maxElements = int64_t(1) << 56;
constexpr size_t maxRank = 16;

std::vector<int64_t> parseShape(const JsonView &view) {
  std::vector<int64_t> shape = view.integers(1, maxDim);
  if (shape.size() > maxRank)
    view.refuse(concat("has ", shape.size(), " dimensions, at most ", maxRank));
  int64_t count = 1;
  for (int64_t size : shape) {
    if (count > maxElements / size)
      view.refuse("has too many elements");
    count *= size;
  }
  return shape;
}

int64_t parseAxis(const JsonView &view, const Mesh &mesh) {
  const std::string &name = view.text();
  for (size_t i = 0; i < mesh.axes.size(); ++i)
    if (mesh.axes[i].name == name)
      return static_cast<int64_t>(i);
  view.refuse(concat("is '", name, "', which is no axis of the mesh"));
}

void takeAxis(const JsonView &view, int64_t axis, int64_t &used) {
  if ((used >> axis) & 1)
    view.refuse("names an axis that the tensor already uses");
  used |= int64_t(1) << axis;
}

void parsePlacement(const JsonView &entry, const Mesh &mesh,
                    TensorInfo &tensor) {
  int64_t used = 0;
  int64_t lastDim = static_cast<int64_t>(tensor.shape.size()) - 1;
  for (const JsonView &item : entry.at("sharding").items()) {
    Split split;
    split.axis = parseAxis(item.at("axis"), mesh);
    split.dim = item.at("dim").integer(0, lastDim);
    takeAxis(item, split.axis, used);
    tensor.sharding.push_back(split);
  }
  if (!entry.has("partial"))
    return;
  for (const JsonView &item : entry.at("partial").items()) {
    tensor.partial.push_back(parseAxis(item, mesh));
    takeAxis(item, tensor.partial.back(), used);
  }
}

Initial parseInitial(const JsonView &view) {
  Initial init;
  const std::string &kind = view.at("kind").text();
  if (kind == "zeros" || kind == "ones") {
    init.kind = kind == "zeros" ? Initial::Zeros : Initial::Ones;
    return init;
  }
  if (kind == "cosines" || kind == "sines") {
    init.kind = kind == "cosines" ? Initial::Cosines : Initial::Sines;
    init.scale = view.at("scale").number();
    for (const JsonView &item : view.at("frequencies").items())
      init.frequencies.push_back(item.number());
    if (init.frequencies.empty())
      view.at("frequencies").refuse("is empty");
    return init;
  }
  if (kind != "normal")
    view.at("kind").refuse("is '" + kind +
                           "', must be normal, zeros, ones, cosines or sines");
  init.kind = Initial::Normal;
  init.mean = view.at("mean").number();
  init.std = view.at("std").number();
  init.stream = view.at("stream").integer(INT64_MIN, INT64_MAX);
  if (!(init.std >= 0) || !std::isfinite(init.std))
    view.at("std").refuse("must be finite and not negative");
  return init;
}

/// A row of angles has a frequency per element.
void checkFrequencies(const JsonView &entry, const TensorInfo &tensor) {
  if (!tensor.init || tensor.init->frequencies.empty())
    return;
  int64_t count = static_cast<int64_t>(tensor.init->frequencies.size());
  if (tensor.shape.size() != 2 || tensor.shape[1] != count)
    entry.at("init").refuse(concat("has ", count, " frequencies for a table ",
                                   describeShape(tensor.shape)));
}

void checkLocalShape(const JsonView &entry, const Mesh &mesh,
                     const TensorInfo &tensor) {
  std::vector<int64_t> expected = localShapeOf(tensor, mesh);
  if (tensor.localShape != expected)
    entry.at("local_shape")
        .refuse(concat("is ", describeShape(tensor.localShape),
                       ", the sharding makes it ", describeShape(expected)));
}

void checkOffset(const JsonView &view, const TensorInfo &tensor, int64_t offset,
                 int64_t arenaBytes) {
  if (offset % dtypeBytes(tensor.dtype) != 0)
    view.refuse(concat("is ", offset, ", not a multiple of ",
                       dtypeBytes(tensor.dtype)));
  if (tensor.localBytes() > arenaBytes - offset)
    view.refuse(concat("is ", offset, ", with ", tensor.localBytes(),
                       " bytes it leaves the arena of ", arenaBytes, " bytes"));
}

/// "offset", or with stages "offsets", -1 where a stage has none.
void parsePlace(const JsonView &entry, const Metadata &metadata,
                TensorInfo &tensor) {
  if (metadata.mesh.stageAxis < 0) {
    JsonView offset = entry.at("offset");
    tensor.offset = offset.integer(0, metadata.arenaBytes);
    return checkOffset(offset, tensor, tensor.offset, metadata.arenaBytes);
  }
  JsonView offsets = entry.at("offsets");
  tensor.stageOffsets = offsets.integers(-1, metadata.arenaBytes);
  int64_t stages = metadata.mesh.stages(), held = 0;
  if (static_cast<int64_t>(tensor.stageOffsets.size()) != stages)
    offsets.refuse(concat("has ", tensor.stageOffsets.size(),
                          " entries for the ", stages, " stages"));
  for (int64_t stage = 0; stage < stages; ++stage)
    if (tensor.isAt(stage)) {
      ++held;
      checkOffset(offsets.items()[stage], tensor, tensor.stageOffsets[stage],
                  metadata.arenaBytesAt(stage));
    }
  if (held == 0)
    offsets.refuse("has no stage that holds the tensor");
  tensor.offset = tensor.stageOffsets[tensor.firstStage()];
}
} // namespace

TensorInfo parseTensor(const JsonView &entry, const Metadata &metadata) {
  TensorInfo tensor;
  JsonView role = entry.at("role"), dtype = entry.at("dtype");
  if (!roleFromName(role.text()))
    role.refuse("is '" + role.text() + "', which is no role");
  if (!dtypeFromName(dtype.text()))
    dtype.refuse("is '" + dtype.text() + "', must be f32, bf16, f64 or i32");
  tensor.role = *roleFromName(role.text());
  tensor.dtype = *dtypeFromName(dtype.text());
  tensor.name = entry.at("name").text();
  tensor.shape = parseShape(entry.at("shape"));
  tensor.fileShape = entry.has("file_shape")
                         ? parseShape(entry.at("file_shape"))
                         : tensor.shape;
  tensor.localShape = parseShape(entry.at("local_shape"));
  if (elementsOf(tensor.fileShape) != tensor.elements())
    entry.at("file_shape")
        .refuse(concat("is ", describeShape(tensor.fileShape),
                       ", it must have the elements of ",
                       describeShape(tensor.shape)));
  parsePlacement(entry, metadata.mesh, tensor);
  if (entry.has("init"))
    tensor.init = parseInitial(entry.at("init"));
  checkFrequencies(entry, tensor);
  checkLocalShape(entry, metadata.mesh, tensor);
  parsePlace(entry, metadata, tensor);
  return tensor;
}

} // namespace tessera
