//===- TensorReport.cpp - who holds which part of a tensor ----------------===//

#include "tools/tessera/report/TensorReport.h"
#include "tools/tessera/report/Place.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include <tuple>

using namespace llvm;
using namespace tessera;

static std::string textOf(const json::Object &object, StringRef key) {
  return object.getString(key).value_or("").str();
}

static std::vector<int64_t> numbersOf(const json::Array *list) {
  std::vector<int64_t> numbers;
  if (list)
    for (const json::Value &value : *list)
      numbers.push_back(value.getAsInteger().value_or(0));
  return numbers;
}

/// Chunks of ceil(size / n), cut again by the next axis: the last ones may be
/// shorter or empty (docs/Artifact.md, `sharding`).
static std::vector<int64_t> boundsOf(int64_t size,
                                     const std::vector<int64_t> &counts) {
  std::vector<int64_t> bounds = {0, size};
  int64_t chunk = size;
  for (int64_t count : counts) {
    chunk = divideCeil(chunk, count);
    std::vector<int64_t> finer;
    for (size_t k = 0; k + 1 < bounds.size(); ++k)
      for (int64_t part = 0; part < count; ++part)
        finer.push_back(std::min(bounds[k] + part * chunk, bounds[k + 1]));
    finer.push_back(size);
    bounds = std::move(finer);
  }
  return bounds;
}

bool TensorGroup::isAlike(const TensorGroup &other) const {
  return std::tie(name, role, dtype, shape, localShape, stages, isFrozen) ==
             std::tie(other.name, other.role, other.dtype, other.shape,
                      other.localShape, other.stages, other.isFrozen) &&
         cuts == other.cuts && layers.empty() == other.layers.empty();
}

int64_t TensorGroup::bytesOfRank() const {
  int64_t bytes = dtype == "f64"                     ? 8
                  : dtype == "f32" || dtype == "i32" ? 4
                  : dtype == "bf16"                  ? 2
                                                     : 1;
  for (int64_t size : localShape)
    bytes *= size;
  return bytes;
}

static void addCuts(TensorGroup &group, const json::Array *sharding,
                    const std::map<std::string, int64_t> &axes) {
  if (!sharding)
    return;
  for (const json::Value &value : *sharding) {
    const json::Object &split = *value.getAsObject();
    int64_t dim = split.getInteger("dim").value_or(-1);
    if (dim < 0 || dim >= static_cast<int64_t>(group.shape.size()))
      continue;
    auto cut = find_if(group.cuts,
                       [&](const TensorCut &each) { return each.dim == dim; });
    if (cut == group.cuts.end())
      cut = group.cuts.insert(cut, {dim, {}, {}});
    cut->axes.push_back(textOf(split, "axis"));
  }
  for (TensorCut &cut : group.cuts) {
    std::vector<int64_t> counts;
    for (const std::string &axis : cut.axes)
      counts.push_back(axes.count(axis) ? std::max<int64_t>(axes.at(axis), 1)
                                        : 1);
    cut.bounds = boundsOf(group.shape[cut.dim], counts);
  }
}

void TensorReport::readTensor(const json::Object &tensor) {
  TensorGroup group;
  group.role = textOf(tensor, "role");
  if (group.role == "value" || group.role == "gradient")
    return;
  std::string name = textOf(tensor, "name");
  int64_t layer = layerOf(name);
  group.name = placeOf(name, layer);
  if (layer >= 0)
    group.layers.push_back(layer);
  group.dtype = textOf(tensor, "dtype");
  group.shape = numbersOf(tensor.getArray("shape"));
  group.localShape = numbersOf(tensor.getArray("local_shape"));
  group.isFrozen = tensor.getBoolean("frozen").value_or(false);
  addCuts(group, tensor.getArray("sharding"), axes);
  for (auto [stage, offset] : enumerate(numbersOf(tensor.getArray("offsets"))))
    if (offset >= 0)
      group.stages.push_back(static_cast<int64_t>(stage));
  auto same = find_if(
      groups, [&](const TensorGroup &other) { return other.isAlike(group); });
  if (same == groups.end())
    groups.push_back(std::move(group));
  else
    append_range(same->layers, group.layers);
}

void TensorReport::read(const json::Object &root) {
  if (const json::Array *mesh = root.getArray("mesh"))
    for (const json::Value &axis : *mesh)
      axes[textOf(*axis.getAsObject(), "axis")] =
          axis.getAsObject()->getInteger("size").value_or(1);
  if (const json::Array *tensors = root.getArray("tensors"))
    for (const json::Value &tensor : *tensors)
      readTensor(*tensor.getAsObject());
}

json::Array TensorReport::json() const {
  json::Array list;
  for (const TensorGroup &group : groups) {
    json::Array cuts;
    for (const TensorCut &cut : group.cuts)
      cuts.push_back(json::Object{{"dim", cut.dim},
                                  {"axes", json::Array(cut.axes)},
                                  {"bounds", json::Array(cut.bounds)}});
    list.push_back(json::Object{{"name", group.name},
                                {"role", group.role},
                                {"dtype", group.dtype},
                                {"shape", json::Array(group.shape)},
                                {"local_shape", json::Array(group.localShape)},
                                {"bytes_of_rank", group.bytesOfRank()},
                                {"layers", json::Array(group.layers)},
                                {"stages", json::Array(group.stages)},
                                {"frozen", group.isFrozen},
                                {"cuts", std::move(cuts)}});
  }
  return list;
}
