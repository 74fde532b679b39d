//===- TensorFiles.h - tensors of one file or of several shards -*- C++ -*-===//
// A set of tensors is one safetensors file, or shards beside an index, as
// `transformers` writes them: model-00001-of-00003.safetensors and
// model.safetensors.index.json, which says which shard holds which tensor.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CHECKPOINT_TENSORFILES_H
#define TESSERA_RUNTIME_CHECKPOINT_TENSORFILES_H

#include "runtime/checkpoint/ShardIndex.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tessera {

/// Opened files whose headers were read; the tensors stay on the disk.
class TensorFiles {
public:
  /// A safetensors file, or the index of shards (a `.json` file). TSR_NOT_FOUND
  /// names a missing shard; TSR_CORRUPT: the index is malformed, names a file
  /// outside of its directory or a tensor that its shard lacks, or two shards
  /// hold one tensor; as of SafetensorsFile.
  explicit TensorFiles(const std::string &path);

  const std::string &path() const { return name; }
  /// Returns all files that were read: the index, if any, then the shards.
  std::vector<std::string> paths() const;
  const std::map<std::string, const FileTensor *> &tensors() const {
    return entries;
  }
  /// Returns the tensor of this name; null if there is none.
  const FileTensor *find(const std::string &name) const;

private:
  void addShard(const std::string &path);
  void addShards();

  std::string name;
  std::vector<std::unique_ptr<SafetensorsFile>> files;
  std::map<std::string, const FileTensor *> entries;
};

/// Returns the weights that a user names: a file that TensorFiles takes, or a
/// directory that holds model.safetensors or its index. TSR_NOT_FOUND.
std::string weightsFile(const std::string &path);

} // namespace tessera

#endif // TESSERA_RUNTIME_CHECKPOINT_TENSORFILES_H
