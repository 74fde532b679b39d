//===- CachePlaces.h - what slots of a cache hold ---------------*- C++ -*-===//
#ifndef TESSERA_RUNTIME_SESSION_CACHEPLACES_H
#define TESSERA_RUNTIME_SESSION_CACHEPLACES_H

#include "runtime/device/Rank.h"

#include <vector>

namespace tessera {

/// The first `count` positions of a slot become those of another one of its
/// lane.
struct PlaceCopy {
  int64_t lane, from, to, count;
};

/// Makes copies, in order, in the rank's part of a cache, which is [lanes,
/// slots, places, key heads, head size]: a rank has all slots of its lanes, and
/// all places or those that are dealt to it. Its program does not run.
void copyPlaces(const Rank &rank, const TensorInfo &cache,
                const std::vector<PlaceCopy> &copies);

} // namespace tessera

#endif // TESSERA_RUNTIME_SESSION_CACHEPLACES_H
