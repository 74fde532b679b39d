//===- ShardIndexTarget.cpp - the index of a model in several files -------===//
#include "runtime/checkpoint/ShardIndex.h"
#include "test/Fuzz/Runtime/Fuzzed.h"

using namespace tessera;
using namespace fuzzed;

using Index = std::map<std::string, std::string>;

static Index read(std::string_view content) {
  MemoryFile memory(content);
  return readShardIndex(InputFile(memory.path()));
}

static void checkName(const std::string &shard) {
  require(!shard.empty() && shard.front() != '/' &&
              shard.find('\0') == std::string::npos,
          "a shard lies in the directory of the index");
  require(("/" + shard + "/").find("/../") == std::string::npos,
          "a shard does not leave the directory of the index");
}

/// Cuts the tensors of an index anew.
static void checkCuts(const Index &index) {
  std::vector<NewTensor> tensors;
  for (const auto &[tensor, shard] : index)
    tensors.push_back({tensor, "F32", {1}, shard.size()});
  std::vector<FileShard> cut = cutIntoShards(tensors, 40);
  Index wanted;
  size_t count = 0;
  for (const FileShard &shard : cut) {
    uint64_t bytes = 0;
    for (const NewTensor &tensor : shard.tensors) {
      wanted[tensor.name] = shard.name;
      bytes += tensor.bytes;
      ++count;
    }
    require(bytes <= 40 || shard.tensors.size() == 1, "shards have their size");
  }
  require(count == tensors.size(), "each tensor is in one shard");
  require(read(writeShardIndex(cut)) == wanted,
          "an index is read as it was written");
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  accepts([&] {
    Index index = read({reinterpret_cast<const char *>(data), size});
    for (const auto &[tensor, shard] : index)
      checkName(shard);
    checkCuts(index);
  });
  return 0;
}
