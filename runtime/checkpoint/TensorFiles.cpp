//===- TensorFiles.cpp - tensors of one file or of several shards ---------===//
#include "runtime/checkpoint/TensorFiles.h"

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

void TensorFiles::addShards() {
  std::map<std::string, std::string> shards = readShardIndex(InputFile(name));
  std::string directory = directoryOf(name);
  std::set<std::string> opened;
  for (const auto &[tensor, shard] : shards) {
    if (!opened.insert(shard).second)
      continue;
    if (!isFile(directory + shard))
      fail(TSR_NOT_FOUND, "'", name, "' names the shard '", shard, "' (of '",
           tensor, "'), but there is no file '", directory + shard,
           "'; put all shards beside the index");
    addShard(directory + shard);
  }
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
  for (const char *name : {"pytorch_model.bin", "pytorch_model.bin.index.json"})
    if (isFile(concat(path, "/", name)))
      fail(TSR_UNSUPPORTED, "'", path, "' holds weights as '", name,
           "', which is a program; save them again with "
           "save_pretrained(..., safe_serialization=True)");
  fail(TSR_NOT_FOUND, "'", path, "' holds neither '", modelFile, "' nor '",
       modelIndexFile, "'");
}

} // namespace tessera
