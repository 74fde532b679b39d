//===- ShardIndex.cpp - which file of a model holds which tensor ----------===//
#include "runtime/checkpoint/ShardIndex.h"

#include "runtime/artifact/Metadata.h"
#include "runtime/support/JsonLimits.h"
#include "runtime/support/Status.h"

#include <algorithm>
#include <cstdio>

namespace tessera {

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// An index of strangers must not name files elsewhere. Links may lead
/// elsewhere: a download cache is made of them.
static void checkShardName(const JsonView &view, const std::string &name) {
  bool leaves =
      name.empty() || name[0] == '/' || name.find('\0') != std::string::npos;
  for (size_t begin = 0; begin <= name.size();) {
    size_t end = std::min(name.find('/', begin), name.size());
    leaves |= name.compare(begin, end - begin, "..") == 0;
    begin = end + 1;
  }
  if (leaves)
    view.refuse(concat("is '", name.c_str(),
                       "', which is no file in the "
                       "directory of the index; name one there"));
}

std::map<std::string, std::string> readShardIndex(const InputFile &file) {
  std::string source = concat("'", file.path(), "'");
  std::string text = readJsonText(file, json_kinds::shard_index);
  JsonTree parsed = parseJson(source, text, json_kinds::shard_index);
  JsonView map = JsonView(parsed.root, source).at("weight_map");
  if (!map.raw().is_object() || map.raw().empty())
    map.refuse("must be an object of tensors and the files that hold them");
  std::map<std::string, std::string> shards;
  for (const auto &[name, value] : map.raw().items()) {
    if (name.find('\0') != std::string::npos)
      map.refuse("has a name with a zero byte; write it with other names");
    JsonView shard = map.at(name.c_str());
    checkShardName(shard, shard.text());
    shards.emplace(name, shard.text());
  }
  return shards;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static std::string shardName(size_t number, size_t count) {
  char name[64];
  std::snprintf(name, sizeof name, "model-%05zu-of-%05zu.safetensors", number,
                count);
  return name;
}

std::vector<FileShard> cutIntoShards(std::vector<NewTensor> tensors,
                                     int64_t mostBytes) {
  std::vector<FileShard> shards(1);
  uint64_t bytes = 0, most = static_cast<uint64_t>(mostBytes);
  for (NewTensor &tensor : tensors) {
    bool isFull = bytes + tensor.bytes > most;
    if (most && isFull && !shards.back().tensors.empty()) {
      shards.emplace_back();
      bytes = 0;
    }
    bytes += tensor.bytes;
    shards.back().tensors.push_back(std::move(tensor));
  }
  constexpr size_t mostShards = 99'999; // the digits of their names
  if (shards.size() > mostShards)
    fail(TSR_INVALID_ARGUMENT, "shards of at most ", mostBytes,
         " bytes would be ", shards.size(), " files, at most ", mostShards,
         " are written; make them larger");
  for (size_t i = 0; i < shards.size(); ++i)
    shards[i].name =
        shards.size() == 1 ? modelFile : shardName(i + 1, shards.size());
  return shards;
}

std::string writeShardIndex(const std::vector<FileShard> &shards) {
  JsonTree tree(JsonTree::Type::object);
  nlohmann::json &metadata = tree.root["metadata"] = JsonTree::Type::object;
  nlohmann::json &map = tree.root["weight_map"] = JsonTree::Type::object;
  uint64_t bytes = 0;
  int64_t parameters = 0;
  for (const FileShard &shard : shards)
    for (const NewTensor &tensor : shard.tensors) {
      bytes += tensor.bytes;
      parameters += elementsOf(tensor.shape);
      map[tensor.name] = shard.name;
    }
  metadata["total_parameters"] = parameters;
  metadata["total_size"] = bytes;
  return tree.root.dump(2) + "\n";
}

} // namespace tessera
