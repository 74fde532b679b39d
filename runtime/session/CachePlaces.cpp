#include "runtime/session/CachePlaces.h"

#include "runtime/artifact/Sharding.h"

namespace tessera {

void copyPlaces(const Rank &rank, const TensorInfo &cache,
                const std::vector<PlaceCopy> &copies) {
  const Shard shard = shardOf(cache, rank.metadata->mesh, rank.coordinates);
  const DimRange &lanes = shard.dims[0];
  const int64_t slots = cache.localShape[1], places = cache.localShape[2];
  const int64_t deal = cache.shape[2] / places;
  const int64_t ordinal = shard.dims[2].start / places;
  const int64_t slotBytes = cache.localBytes() / (lanes.local * slots);
  for (const PlaceCopy &copy : copies) {
    const int64_t lane = copy.lane - lanes.start;
    if (lane < 0 || lane >= lanes.valid || copy.from == copy.to)
      continue;
    const int64_t held = (copy.count - ordinal + deal - 1) / deal;
    const int64_t all = rank.offsetOf(cache) + lane * slots * slotBytes;
    rank.device->copy(all + copy.from * slotBytes, all + copy.to * slotBytes,
                      held * (slotBytes / places));
  }
}

} // namespace tessera
