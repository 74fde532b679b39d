//===- TensorReport.cpp - who holds which part of a tensor ----------------===//

#include "tessera/Report/TensorReport.h"
#include "tessera/Program/PartName.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include <tuple>

using namespace llvm;
using namespace tessera;

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

static void addCuts(TensorGroup &group, const program::Tensor &tensor,
                    const program::Mesh &mesh) {
  for (const program::Split &split : tensor.sharding) {
    if (split.dim >= static_cast<int64_t>(group.shape.size()))
      continue;
    auto cut = find_if(group.cuts, [&](const TensorCut &each) {
      return each.dim == split.dim;
    });
    if (cut == group.cuts.end())
      cut = group.cuts.insert(cut, {split.dim, {}, {}});
    cut->axes.push_back(split.axis);
  }
  for (TensorCut &cut : group.cuts) {
    std::vector<int64_t> counts;
    for (const std::string &axis : cut.axes)
      counts.push_back(mesh.sizeOf(axis));
    cut.bounds = boundsOf(group.shape[cut.dim], counts);
  }
}

void TensorReport::add(const program::Tensor &tensor,
                       const program::Mesh &mesh) {
  if (tensor.role == "value" || tensor.role == "gradient")
    return;
  TensorGroup group;
  group.role = tensor.role;
  group.name = program::placeOf(tensor.name);
  if (int64_t layer = program::layerOfPart(tensor.name).number; layer >= 0)
    group.layers.push_back(layer);
  group.dtype = tensor.dtype;
  group.shape = tensor.shape;
  group.localShape = tensor.localShape;
  group.isFrozen = tensor.frozen;
  group.bytesOfRank = tensor.bytesOfRank();
  addCuts(group, tensor, mesh);
  for (auto [stage, offset] : enumerate(tensor.offsets))
    if (offset >= 0)
      group.stages.push_back(static_cast<int64_t>(stage));
  auto same = find_if(
      groups, [&](const TensorGroup &other) { return other.isAlike(group); });
  if (same == groups.end())
    groups.push_back(std::move(group));
  else
    append_range(same->layers, group.layers);
}

void TensorReport::read(const program::Program &program) {
  for (const program::Tensor &tensor : program.tensors)
    add(tensor, program.mesh);
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
                                {"bytes_of_rank", group.bytesOfRank},
                                {"layers", json::Array(group.layers)},
                                {"stages", json::Array(group.stages)},
                                {"frozen", group.isFrozen},
                                {"cuts", std::move(cuts)}});
  }
  return list;
}
