//===- MergeAdapter.cpp - tsr_adapter_merge -------------------------------===//
// W + alpha / r B A, in f64 and rounded once to the type of W.
//===----------------------------------------------------------------------===//
#include "runtime/checkpoint/AdapterDelta.h"

#include "runtime/checkpoint/Checkpoint.h"
#include "runtime/checkpoint/SameModel.h"
#include "runtime/support/DType.h"

namespace tessera {

namespace {
/// The types that a merged matrix can be rounded to.
constexpr int mergedTypes[] = {TSR_DTYPE_F32, TSR_DTYPE_BF16, TSR_DTYPE_F64};

int typeOf(const std::string &path, const std::string &name,
           const std::string &dtype) {
  for (int type : mergedTypes)
    if (dtype == dtypeFileName(type))
      return type;
  fail(TSR_UNSUPPORTED, "'", path, "': '", name, "' is ", dtype,
       ", and an adapter is merged into F32, BF16 or F64; save the model in "
       "one of them");
}

/// Adds the tensors of an adapter to the weights of the model that they belong
/// to.
class Merging {
public:
  Merging(const std::string &model, const std::string &adapter)
      : weights(weightsFile(model)), files(adapter),
        pairs(matchAdapter(weights, files)) {
    for (const auto &[name, pair] : pairs)
      typeOf(weights.path(), name, weights.find(name)->dtype);
    checkTrainedBeside(model, adapter);
  }

  std::vector<FileShard> shards() const;
  void write(const std::string &directory) const;

private:
  void checkTrainedBeside(const std::string &model,
                          const std::string &adapter) const;
  void writeTensor(const std::string &name, WrittenFile &file) const;
  void writeMerged(const std::string &name, WrittenFile &file) const;

  TensorFiles weights;
  AdapterFiles files;
  std::map<std::string, AdapterPair> pairs; ///< one for each name of a weight
};

/// Model and adapter must be of one model, if checkpoints say of which they
/// are, and the adapter must have been trained beside these weights.
void Merging::checkTrainedBeside(const std::string &model,
                                 const std::string &adapter) const {
  const std::optional<Manifest> trained = manifestBeside(adapter);
  if (!trained)
    return;
  const std::string &path = weights.path();
  const std::optional<Manifest> own =
      manifestBeside(path.substr(0, path.rfind('/') + 1) + ".");
  if (own)
    checkSameModel(own->modelKeys, trained->modelKeys, adapter);
  checkSameBase(baseOf(weights), trainedBase(*trained, adapter), model,
                adapter);
}

/// Returns the files that the model has.
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
  const AdapterPair &pair = pairs.at(name);
  AdapterDelta delta(*pair.a, *pair.b, files.config);
  int type = typeOf(weights.path(), name, tensor.dtype);
  int64_t columns = tensor.shape[1];
  std::vector<double> row(columns);
  std::vector<char> bytes(columns * dtypeBytes(type));
  for (int64_t k = 0; k < tensor.shape[0]; ++k) {
    widenFile(tensor, k * columns, columns, row.data());
    delta.addTo(k * columns, columns, row.data());
    narrow(type, row.data(), bytes.data(), columns);
    file.write(bytes.data(), bytes.size());
  }
}

void Merging::write(const std::string &directory) const {
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

} // namespace

void mergeAdapter(const std::string &model, const std::string &adapter,
                  const std::string &output) {
  if (isDirectory(output) || isFile(output))
    fail(TSR_INVALID_ARGUMENT, "'", output,
         "' exists; name a directory that does not");
  Merging merging(checkpointIn(model), checkpointIn(adapter));
  std::string made = output + ".tmp";
  if (isDirectory(made) || isFile(made))
    fail(TSR_INVALID_ARGUMENT, "'", made,
         "' exists, perhaps from a merge that was interrupted; remove it");
  createNewDirectory(made);
  try {
    merging.write(made);
    if (isDirectory(model))
      writeModelFiles(readModelFiles(checkpointIn(model)), made);
    syncDirectory(made);
    replaceDirectory(made, output);
  } catch (...) {
    removeDirectory(made);
    throw;
  }
}

} // namespace tessera
