//===- ShardIndex.h - which file of a model holds which tensor --*- C++ -*-===//
// A model that `transformers` cuts into shards has names like
// model-00001-of-00003.safetensors and model.safetensors.index.json, whose
// "weight_map" says where each tensor is.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CHECKPOINT_SHARDINDEX_H
#define TESSERA_RUNTIME_CHECKPOINT_SHARDINDEX_H

#include "runtime/checkpoint/Safetensors.h"

#include <map>
#include <string>
#include <vector>

namespace tessera {

constexpr const char *modelFile = "model.safetensors";
constexpr const char *modelIndexFile = "model.safetensors.index.json";

/// Reads the shard of each tensor: a path in the directory of the index.
/// TSR_CORRUPT.
std::map<std::string, std::string> readShardIndex(const InputFile &file);

/// The tensors that are written to one file of several; `Shard` is a rank's
/// part of a tensor.
struct FileShard {
  std::string name;
  std::vector<NewTensor> tensors;
};
/// Cuts `tensors`, in their order, into files of at most `mostBytes` of data; a
/// larger tensor has a file of its own. 0: one file. One file is `modelFile`.
std::vector<FileShard> cutIntoShards(std::vector<NewTensor> tensors,
                                     int64_t mostBytes);
std::string writeShardIndex(const std::vector<FileShard> &shards);

} // namespace tessera

#endif // TESSERA_RUNTIME_CHECKPOINT_SHARDINDEX_H
