//===- TensorFiles.cpp - tensors of one file or of several shards ---------===//
#include "runtime/checkpoint/TensorFiles.h"

#include "runtime/checkpoint/ForeignWeights.h"
#include "runtime/support/Status.h"

#include <set>

namespace tessera {

static bool endsWith(const std::string &text, const std::string &end) {
  return text.size() >= end.size() &&
         text.compare(text.size() - end.size(), end.size(), end) == 0;
}

/// Everything up to the last slash.
static std::string directoryOf(const std::string &path) {
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

TensorFiles::TensorFiles(const std::string &path) : name(path) {
  if (endsWith(path, ".json"))
    addShards();
  else
    addShard(path);
}

std::vector<std::string> TensorFiles::paths() const {
  std::vector<std::string> paths;
  if (endsWith(name, ".json"))
    paths.push_back(name);
  for (const auto &file : files)
    paths.push_back(file->file().path());
  return paths;
}

void TensorFiles::addShard(const std::string &path) {
  files.push_back(std::make_unique<SafetensorsFile>(path));
  for (const auto &[tensor, entry] : files.back()->tensors()) {
    auto [it, isNew] = entries.emplace(tensor, &entry);
    if (!isNew)
      fail(TSR_CORRUPT, "'", name, "': both '", it->second->file->path(),
           "' and '", path, "' have a tensor '", tensor,
           "'; the shards are not of one model, save it again");
  }
}

/// Fails with TSR_NOT_FOUND if some shards that the index names are not beside
/// it.
static void checkShardsAreThere(const std::string &index,
                                const std::string &directory,
                                const std::map<std::string, std::string> &map) {
  std::map<std::string, std::string> tensorOf; // one tensor for each shard
  for (const auto &[tensor, shard] : map)
    tensorOf.emplace(shard, tensor);
  std::vector<std::string> missing;
  for (const auto &[shard, tensor] : tensorOf)
    if (!isFile(directory + shard))
      missing.push_back(shard);
  if (missing.empty())
    return;
  fail(TSR_NOT_FOUND, "'", index, "' names the shard '", missing[0], "' (of '",
       tensorOf[missing[0]], "'), but there is no file '",
       directory + missing[0], "'; ", missing.size(), " of ", tensorOf.size(),
       " shards are missing: put all beside the index");
}

void TensorFiles::addShards() {
  std::map<std::string, std::string> shards = readShardIndex(InputFile(name));
  std::string directory = directoryOf(name);
  checkShardsAreThere(name, directory, shards);
  std::set<std::string> opened;
  for (const auto &[tensor, shard] : shards)
    if (opened.insert(shard).second)
      addShard(directory + shard);
  for (const auto &[tensor, shard] : shards) {
    const FileTensor *found = find(tensor);
    if (!found || found->file->path() != directory + shard)
      fail(TSR_CORRUPT, "'", name, "' says that '", tensor, "' is in '", shard,
           "', but it is ",
           found ? concat("in '", found->file->path(), "'")
                 : std::string("not there"),
           "; index and shards are of different saves");
  }
}

const FileTensor *TensorFiles::find(const std::string &name) const {
  auto it = entries.find(name);
  return it == entries.end() ? nullptr : it->second;
}

std::string weightsFile(const std::string &path) {
  if (!isDirectory(path))
    return path;
  for (const char *name : {modelFile, modelIndexFile})
    if (isFile(concat(path, "/", name)))
      return concat(path, "/", name);
  std::string other = describeOtherWeights(path);
  fail(other.empty() ? TSR_NOT_FOUND : TSR_UNSUPPORTED, "'", path,
       "' holds neither '", modelFile, "' nor '", modelIndexFile, "'",
       other.empty() ? "" : ", but " + other);
}

} // namespace tessera
