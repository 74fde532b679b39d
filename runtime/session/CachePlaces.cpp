#include "runtime/session/CachePlaces.h"

#include "runtime/artifact/Sharding.h"
#include "runtime/device/HostTensor.h"

#include <cstring>

namespace tessera {

void copyPlaces(const Rank &rank, const TensorInfo &cache,
                const std::vector<PlaceCopy> &copies) {
  const Shard shard = shardOf(cache, rank.metadata->mesh, rank.coordinates);
  const DimRange &lanes = shard.dims[0];
  const int64_t slots = cache.localShape[1], places = cache.localShape[2];
  const int64_t deal = cache.shape[2] / places;
  const int64_t ordinal = shard.dims[2].start / places;
  const int64_t slotBytes = cache.localBytes() / (lanes.local * slots);
  HostTensor values = HostTensor::toRead(rank, cache);
  for (const PlaceCopy &copy : copies) {
    const int64_t lane = copy.lane - lanes.start;
    if (lane < 0 || lane >= lanes.valid || copy.from == copy.to)
      continue;
    const int64_t held = (copy.count - ordinal + deal - 1) / deal;
    unsigned char *all = values.data() + lane * slots * slotBytes;
    std::memcpy(all + copy.to * slotBytes, all + copy.from * slotBytes,
                held * (slotBytes / places));
  }
  values.store();
}

} // namespace tessera
