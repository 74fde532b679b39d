//===- SameModel.cpp - is a checkpoint of this model? ---------------------===//
#include "runtime/checkpoint/SameModel.h"

#include "runtime/checkpoint/WeightNames.h"
#include "runtime/support/DType.h"

#include <algorithm>

namespace tessera {

/// The family is compared first: it says more than any other key.
static constexpr const char *firstKey = "model_type";

static void checkKey(const std::string &key, const Keys &own, const Keys &saved,
                     const std::string &checkpoint) {
  auto here = own.find(key), there = saved.find(key);
  if (here == own.end() || there == saved.end() ||
      here->second == there->second)
    return;
  fail(TSR_MISMATCH, "'", checkpoint, "' is of another model: its '", key,
       "' is ", there->second, ", that of the model here ", here->second,
       "; give the model that it was trained as");
}

void checkSameModel(const Keys &own, const Keys &saved,
                    const std::string &checkpoint) {
  checkKey(firstKey, own, saved, checkpoint);
  for (const auto &[key, value] : own)
    checkKey(key, own, saved, checkpoint);
}

std::vector<std::string> trainingDifferences(const Keys &own, const Keys &saved,
                                             const std::string &checkpoint) {
  std::vector<std::string> lines;
  for (const auto &[key, value] : own) {
    auto there = saved.find(key);
    if (there != saved.end() && there->second != value)
      lines.push_back(concat("'", key, "' of the config is ", value,
                             " instead of ", there->second, ", which '",
                             checkpoint, "' was trained with"));
  }
  return lines;
}

std::optional<Manifest> manifestBeside(const std::string &directory) {
  if (!isFile(concat(directory, "/", manifestFile)) ||
      !isFile(concat(directory, "/", optimizerFile)))
    return std::nullopt;
  return readManifest(InputFile(concat(directory, "/", manifestFile)));
}

std::string
hashOfValues(int64_t elements,
             const std::function<void(int64_t, int64_t, double *)> &read) {
  constexpr int64_t block = 4096;
  double values[block];
  struct {
    uint64_t before;
    char rounded[block * 2]; // bf16
  } hashed = {static_cast<uint64_t>(elements), {}};
  for (int64_t first = 0; first < elements; first += block) {
    int64_t count = std::min(block, elements - first);
    read(first, count, values);
    narrow(TSR_DTYPE_BF16, values, hashed.rounded, count);
    hashed.before = hashBytes(&hashed, sizeof hashed.before + 2 * count);
  }
  return hashText(hashed.before);
}

AdapterBase baseOf(const TensorFiles &weights) {
  AdapterBase base;
  for (const auto &[name, tensor] : weights.tensors())
    if (fileElementBytes(tensor->dtype) != 0)
      base.tensors[plainName(name)] = hashOfValues(
          tensor->elements(),
          [tensor = tensor](int64_t first, int64_t count, double *out) {
            widenFile(*tensor, first, count, out);
          });
  return base;
}

AdapterBase trainedBase(const Manifest &manifest,
                        const std::string &directory) {
  for (const char *name : {modelFile, modelIndexFile})
    if (manifest.base.tensors.empty() && isFile(concat(directory, "/", name)))
      return baseOf(TensorFiles(concat(directory, "/", name)));
  return manifest.base;
}

void checkSameBase(const AdapterBase &own, const AdapterBase &trained,
                   const std::string &model, const std::string &adapter) {
  for (const auto &[name, hash] : trained.tensors) {
    auto found = own.tensors.find(name);
    if (found == own.tensors.end() || found->second == hash)
      continue;
    const bool isKnown = !trained.path.empty();
    fail(TSR_MISMATCH, "'", adapter, "' adapts other weights than those of '",
         model, "': '", name, "' has the hash ", found->second, ", it had ",
         hash, "; give the model that it was trained beside",
         isKnown ? concat(", '", trained.path, "'") : std::string());
  }
}

} // namespace tessera
