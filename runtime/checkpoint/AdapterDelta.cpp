//===- AdapterDelta.cpp - what adapters add to weights --------------------===//
#include "runtime/checkpoint/AdapterDelta.h"

#include "runtime/checkpoint/WeightNames.h"

namespace tessera {

static std::vector<double> widened(const FileTensor &tensor) {
  std::vector<double> values(tensor.elements());
  widenFile(tensor, 0, tensor.elements(), values.data());
  return values;
}

AdapterDelta::AdapterDelta(const FileTensor &a, const FileTensor &b,
                           const AdapterConfig &config)
    : a(widened(a)), b(widened(b)), rank(config.rank), in(a.shape[1]),
      out(b.shape[0]), scale(config.scale()), transposed(config.transposed) {}

void AdapterDelta::addTo(int64_t first, int64_t count, double *values) const {
  const int64_t columns = shape()[1];
  for (int64_t e = 0; e < count; ++e) {
    const int64_t row = (first + e) / columns, column = (first + e) % columns;
    const int64_t o = transposed ? column : row, i = transposed ? row : column;
    double sum = 0;
    for (int64_t k = 0; k < rank; ++k)
      sum += b[o * rank + k] * a[k * in + i];
    values[e] += scale * sum;
  }
}

static bool takeEnd(std::string &text, const std::string &end) {
  bool has = text.size() > end.size() &&
             text.compare(text.size() - end.size(), end.size(), end) == 0;
  if (has)
    text.resize(text.size() - end.size());
  return has;
}

namespace {
class PairMatching {
public:
  PairMatching(const TensorFiles &weights, const AdapterFiles &files)
      : weights(weights), files(files) {
    for (const auto &[name, tensor] : weights.tensors())
      plain[plainName(name)] = name;
    for (const auto &[name, tensor] : files.tensors.tensors())
      match(name, *tensor);
    for (const auto &[name, pair] : pairs)
      if (!pair.a || !pair.b)
        fail(TSR_MISMATCH, "'", files.tensors.path(), "' has lora_",
             pair.a ? "A" : "B", " of '", name, "' alone; save it again");
  }

  std::map<std::string, AdapterPair> pairs;

private:
  void match(const std::string &name, const FileTensor &tensor);
  void checkShape(const std::string &name, const AdapterPair &pair) const;

  const TensorFiles &weights;
  const AdapterFiles &files;
  std::map<std::string, std::string> plain; ///< plain names of the weights
};

void PairMatching::match(const std::string &name, const FileTensor &tensor) {
  const std::string &path = files.tensors.path();
  std::string module = name;
  bool isA = takeEnd(module, ".lora_A.weight");
  bool isB = !isA && takeEnd(module, ".lora_B.weight");
  size_t rankDim = isA ? 0 : 1;
  if (!isOfAdapter(name) || !(isA || isB) || tensor.shape.size() != 2 ||
      tensor.shape[rankDim] != files.config.rank)
    fail(TSR_MISMATCH, "'", path, "': '", name, "' ",
         describeShape(tensor.shape), " is no lora_A [r, in] or lora_B ",
         "[out, r] of a linear layer with r = ", files.config.rank);
  checkFinite(path, name, tensor);
  module =
      plainName(module.substr(std::string(adapterPrefix).size()) + ".weight");
  auto weight = plain.find(module);
  if (weight == plain.end())
    fail(TSR_MISMATCH, "'", weights.path(), "' has no '", module, "', which '",
         path, "' adapts; is it the adapter's model?");
  AdapterPair &pair = pairs[weight->second];
  (isA ? pair.a : pair.b) = &tensor;
  if (pair.a && pair.b)
    checkShape(weight->second, pair);
}

void PairMatching::checkShape(const std::string &name,
                              const AdapterPair &pair) const {
  const FileTensor &whole = *weights.find(name);
  std::vector<int64_t> shape = {pair.b->shape[0], pair.a->shape[1]};
  if (files.config.transposed)
    std::swap(shape[0], shape[1]);
  if (whole.shape != shape)
    fail(TSR_MISMATCH, "'", weights.path(), "': '", name, "' has shape ",
         describeShape(whole.shape), ", its adapter ", describeShape(shape),
         "; is it the adapter's model?");
}
} // namespace

std::map<std::string, AdapterPair> matchAdapter(const TensorFiles &weights,
                                                const AdapterFiles &adapter) {
  return PairMatching(weights, adapter).pairs;
}

} // namespace tessera
