//===- MergeAdapter.cpp - tsr_adapter_merge -------------------------------===//
// W + alpha / r B A, in f64 and rounded once to the type of W.
//===----------------------------------------------------------------------===//
#include "runtime/checkpoint/Adapter.h"

#include "runtime/checkpoint/Checkpoint.h"
#include "runtime/checkpoint/WeightNames.h"
#include "runtime/support/DType.h"

#include <set>

namespace tessera {

namespace {
/// The types that a merged matrix can be rounded to.
constexpr int mergedTypes[] = {TSR_DTYPE_F32, TSR_DTYPE_BF16, TSR_DTYPE_F64};

/// What lies beside weights and says how to use them.
constexpr const char *besideWeights[] = {"config.json",
                                         "generation_config.json",
                                         "tokenizer.json",
                                         "tokenizer.model",
                                         "tokenizer_config.json",
                                         "special_tokens_map.json",
                                         "added_tokens.json",
                                         "vocab.json",
                                         "vocab.txt",
                                         "merges.txt",
                                         "spiece.model",
                                         "chat_template.jinja"};

std::vector<double> widened(const FileTensor &tensor) {
  std::vector<double> values(tensor.elements());
  widenFile(tensor, 0, tensor.elements(), values.data());
  return values;
}

/// What one layer's adapter adds.
class Delta {
public:
  Delta(const FileTensor &a, const FileTensor &b, const AdapterConfig &config)
      : a(widened(a)), b(widened(b)), rank(config.rank), in(a.shape[1]),
        out(b.shape[0]), scale(config.scale()), transposed(config.transposed) {}

  std::vector<int64_t> shape() const {
    return transposed ? std::vector<int64_t>{in, out}
                      : std::vector<int64_t>{out, in};
  }
  /// Adds it to a row of W as the file holds it.
  void addTo(int64_t row, std::vector<double> &values) const {
    for (int64_t column = 0; column < shape()[1]; ++column) {
      int64_t o = transposed ? column : row, i = transposed ? row : column;
      double sum = 0;
      for (int64_t k = 0; k < rank; ++k)
        sum += b[o * rank + k] * a[k * in + i];
      values[column] += scale * sum;
    }
  }

private:
  std::vector<double> a, b;
  int64_t rank, in, out;
  double scale;
  bool transposed;
};

/// Which tensors of the adapter belong to which weight of the model.
class Merging {
public:
  Merging(const std::string &model, const std::string &adapter)
      : weights(weightsFile(model)), files(adapter) {
    for (const auto &[name, tensor] : weights.tensors())
      plain[plainName(name)] = name;
    for (const auto &[name, tensor] : files.tensors.tensors())
      match(name, *tensor);
  }

  std::vector<FileShard> shards() const;
  void write(const std::string &directory) const;

private:
  void match(const std::string &name, const FileTensor &tensor);
  void writeTensor(const std::string &name, WrittenFile &file) const;
  void writeMerged(const std::string &name, WrittenFile &file) const;

  struct Pair {
    const FileTensor *a, *b;
  };
  TensorFiles weights;
  AdapterFiles files;
  std::map<std::string, std::string> plain; ///< plain names of the weights
  std::map<std::string, Pair> pairs;        ///< by the weight's name
};

bool takeEnd(std::string &text, const std::string &end) {
  bool has = text.size() > end.size() &&
             text.compare(text.size() - end.size(), end.size(), end) == 0;
  if (has)
    text.resize(text.size() - end.size());
  return has;
}

int typeOf(const std::string &path, const std::string &name,
           const std::string &dtype) {
  for (int type : mergedTypes)
    if (dtype == dtypeFileName(type))
      return type;
  fail(TSR_UNSUPPORTED, "'", path, "': '", name, "' is ", dtype,
       ", and an adapter is merged into F32, BF16 or F64; save the model in "
       "one of them");
}

void Merging::match(const std::string &name, const FileTensor &tensor) {
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
  Pair &pair = pairs[weight->second];
  (isA ? pair.a : pair.b) = &tensor;
  if (!pair.a || !pair.b)
    return;
  const FileTensor &whole = *weights.find(weight->second);
  typeOf(weights.path(), weight->second, whole.dtype);
  std::vector<int64_t> shape = {pair.b->shape[0], pair.a->shape[1]};
  if (files.config.transposed)
    std::swap(shape[0], shape[1]);
  if (whole.shape != shape)
    fail(TSR_MISMATCH, "'", weights.path(), "': '", weight->second,
         "' has shape ", describeShape(whole.shape), ", its adapter ",
         describeShape(shape), "; is it the adapter's model?");
}

/// The files that the model has.
std::vector<FileShard> Merging::shards() const {
  std::vector<FileShard> shards;
  std::map<const InputFile *, size_t> known;
  for (const auto &[name, tensor] : weights.tensors()) {
    auto [it, isNew] = known.emplace(tensor->file, shards.size());
    if (isNew) {
      const std::string &path = tensor->file->path();
      shards.push_back({path.substr(path.rfind('/') + 1), {}});
    }
    shards[it->second].tensors.push_back(
        {name, tensor->dtype, tensor->shape, tensor->bytes});
  }
  if (shards.size() == 1)
    shards[0].name = modelFile;
  return shards;
}

void Merging::writeTensor(const std::string &name, WrittenFile &file) const {
  const FileTensor &tensor = *weights.find(name);
  constexpr uint64_t block = 1 << 20;
  std::vector<char> bytes(std::min(block, tensor.bytes));
  for (uint64_t done = 0; done < tensor.bytes;) {
    uint64_t count = std::min<uint64_t>(block, tensor.bytes - done);
    tensor.file->read(tensor.offset + done, bytes.data(), count);
    file.write(bytes.data(), count);
    done += count;
  }
}

void Merging::writeMerged(const std::string &name, WrittenFile &file) const {
  const FileTensor &tensor = *weights.find(name);
  const Pair &pair = pairs.at(name);
  Delta delta(*pair.a, *pair.b, files.config);
  int type = typeOf(weights.path(), name, tensor.dtype);
  int64_t columns = tensor.shape[1];
  std::vector<double> row(columns);
  std::vector<char> bytes(columns * dtypeBytes(type));
  for (int64_t k = 0; k < tensor.shape[0]; ++k) {
    widenFile(tensor, k * columns, columns, row.data());
    delta.addTo(k, row);
    narrow(type, row.data(), bytes.data(), columns);
    file.write(bytes.data(), bytes.size());
  }
}

void Merging::write(const std::string &directory) const {
  for (const auto &[name, pair] : pairs)
    if (!pair.a || !pair.b)
      fail(TSR_MISMATCH, "'", files.tensors.path(), "' has lora_",
           pair.a ? "A" : "B", " of '", name, "' alone; save it again");
  std::vector<FileShard> all = shards();
  for (const FileShard &shard : all) {
    WrittenFile file(concat(directory, "/", shard.name));
    std::string header = safetensorsHeader(shard.tensors);
    file.write(header.data(), header.size());
    for (const NewTensor &tensor : shard.tensors)
      pairs.count(tensor.name) ? writeMerged(tensor.name, file)
                               : writeTensor(tensor.name, file);
    file.finish();
  }
  if (all.size() == 1)
    return;
  std::string index = writeShardIndex(all);
  WrittenFile file(concat(directory, "/", modelIndexFile));
  file.write(index.data(), index.size());
  file.finish();
}

void copyBeside(const std::string &model, const std::string &directory) {
  for (const char *name : besideWeights) {
    std::string path = concat(model, "/", name);
    if (!isFile(path))
      continue;
    std::string text = InputFile(path).readAll();
    WrittenFile file(concat(directory, "/", name));
    file.write(text.data(), text.size());
    file.finish();
  }
}
} // namespace

void mergeAdapter(const std::string &model, const std::string &adapter,
                  const std::string &output) {
  if (isDirectory(output) || isFile(output))
    fail(TSR_INVALID_ARGUMENT, "'", output,
         "' exists; name a directory that does not");
  Merging merging(model, adapter);
  std::string made = output + ".tmp";
  if (isDirectory(made) || isFile(made))
    fail(TSR_INVALID_ARGUMENT, "'", made,
         "' exists, perhaps from a merge that was interrupted; remove it");
  createDirectories(made);
  try {
    merging.write(made);
    copyBeside(isDirectory(model) ? model : "", made);
    syncDirectory(made);
    replaceDirectory(made, output);
  } catch (...) {
    removeDirectory(made);
    throw;
  }
}

} // namespace tessera
