//===- MetadataTarget.cpp - the metadata of an artifact -------------------===//
#include "runtime/artifact/Metadata.h"
#include "runtime/artifact/Sharding.h"
#include "test/Fuzz/Runtime/Fuzzed.h"

using namespace tessera;
using namespace fuzzed;

/// Computes what the runtime computes from metadata that it has accepted.
static void checkShard(const TensorInfo &tensor, const Metadata &metadata,
                       int64_t rank) {
  auto coordinates = metadata.mesh.coordinates(rank);
  require(metadata.mesh.rankAt(coordinates) == rank, "ranks have coordinates");
  isFirstReplica(tensor, metadata.mesh, coordinates);
  isFirstAddend(tensor, metadata.mesh, coordinates);
  ShardRuns runs(shardOf(tensor, metadata.mesh, coordinates), 4096);
  int64_t count = runs.count();
  for (int64_t index : {int64_t(0), count / 2, count - 1}) {
    if (index < 0 || index >= count)
      continue;
    Run run = runs.at(index);
    require(run.local >= 0 && run.global >= 0 && run.length >= 0,
            "runs have places");
    require(run.local + run.length <= tensor.localElements(),
            "runs lie in the shard");
    require(run.global + run.length <= tensor.elements(),
            "runs lie in the tensor");
  }
}

static void checkTensor(const TensorInfo &tensor, const Metadata &metadata) {
  int64_t stage = tensor.firstStage(), place = tensor.offsetAt(stage);
  require(place >= 0 && tensor.localBytes() > 0 &&
              place + tensor.localBytes() <= metadata.arenaBytesAt(stage),
          "tensors lie in the arena");
  require(metadata.find(tensor.role, tensor.name) == &tensor,
          "tensors are found");
  require(!tensor.describe().empty(), "tensors have names");
  for (int64_t rank : {int64_t(0), metadata.mesh.ranks() - 1})
    checkShard(tensor, metadata, rank);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string text(reinterpret_cast<const char *>(data), size);
  accepts([&] {
    Metadata metadata = parseMetadata("'x' metadata", text);
    require(metadata.mesh.ranks() >= 1, "a mesh has ranks");
    for (const TensorInfo &tensor : metadata.tensors)
      checkTensor(tensor, metadata);
    for (int64_t op : {int64_t(-2), int64_t(-1), int64_t(0), INT64_MAX})
      metadata.describeOp(op);
    for (size_t op = 0; op < metadata.ops.size(); ++op) {
      auto microBatch = metadata.microBatchOf(static_cast<int64_t>(op), 0);
      require(!microBatch || (*microBatch >= 0 &&
                              *microBatch < metadata.model.microBatches),
              "micro-batches are those of a step");
    }
    require(metadata.callsOf(0) >= 0, "calls can be counted");
    metadata.describeArena();
    metadata.mesh.describe(-1);
  });
  return 0;
}
