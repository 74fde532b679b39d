//===- AttentionUnits.cpp - Cuts attention into parallel units ------------===//

#include "runtime/cpu/AttentionUnits.h"
#include "runtime/support/ThreadTeam.h"
#include "tessera/tessera.h"

#include <algorithm>
#include <atomic>

using namespace tessera;

static int64_t blocksOf(int64_t length) {
  return (length + kAttentionBlock - 1) / kAttentionBlock;
}

/// Chunks per head that give every thread something to do: none where whole
/// heads divide evenly enough (at most a quarter of a thread's time idle).
static int64_t chunksFor(int64_t heads, int threads, int64_t blocks) {
  if (heads < 1 || heads >= 4 * threads || heads % threads == 0)
    return 1;
  const int64_t wanted = (4 * threads + heads - 1) / heads;
  return std::max<int64_t>(1, std::min(wanted, blocks));
}

AttentionUnits AttentionUnits::forward(const AttentionProblem &p, int threads) {
  AttentionUnits units{};
  units.heads = p.batch * p.kvHeads;
  units.kvHeads = p.kvHeads;
  units.items = p.group() * blocksOf(p.seqQ);
  units.keys = p.seqK;
  units.queryChunks = chunksFor(units.heads, threads, units.items);
  units.causal = p.causal && p.group() == 1;
  units.queryStart = p.firstQuery();
  return units;
}

AttentionUnits AttentionUnits::backward(const AttentionProblem &p,
                                        int threads) {
  AttentionUnits units = forward(p, threads);
  units.backwards = true;
  units.queryChunks = 1;
  // The gradient of a bias adds over all queries and keys of a head.
  if (units.heads >= threads || p.buckets != 0)
    return units;
  units.queryChunks = chunksFor(units.heads, threads, units.items);
  units.keyChunks = chunksFor(units.heads, threads, blocksOf(p.seqK));
  return units;
}

AttentionUnit AttentionUnits::at(int64_t index) const {
  const int64_t chunks = queryChunks + keyChunks;
  const int64_t head = index / chunks, chunk = index % chunks;
  AttentionUnit u{};
  u.batch = head / kvHeads;
  u.kvHead = head % kvHeads;
  u.itemEnd = items;
  u.keyEnd = keys;
  u.wantsQueries = true;
  u.wantsKeys = backwards;
  if (keyChunks == 0 && queryChunks == 1)
    return u;
  if (chunk < keyChunks) {
    const int64_t blocks = blocksOf(keys);
    u.keyBegin = blocks * chunk / keyChunks * kAttentionBlock;
    u.keyEnd =
        std::min(keys, blocks * (chunk + 1) / keyChunks * kAttentionBlock);
    u.wantsQueries = false;
    return u;
  }
  u.wantsKeys = false;
  u.itemBegin = items * (chunk - keyChunks) / queryChunks;
  u.itemEnd = items * (chunk - keyChunks + 1) / queryChunks;
  if (causal)
    u.keyEnd =
        std::clamp<int64_t>(queryStart + u.itemEnd * kAttentionBlock, 0, keys);
  return u;
}

int32_t tessera::runAttentionUnits(const AttentionProblem &p,
                                   const AttentionUnits &units,
                                   const AttentionRunner &runner,
                                   std::string *error) {
  const int64_t count = units.count();
  if (count == 0)
    return 0;
  const int threads = static_cast<int>(
      std::max<int64_t>(1, std::min<int64_t>(runner.threads, count)));
  const size_t bytes = runner.scratchBytes(p, p.seqK);
  auto *scratch = static_cast<unsigned char *>(
      runner.workspace->reserve(bytes * size_t(threads)));
  if (!scratch) {
    *error = "attention: no memory for " + std::to_string(threads) +
             " workspaces of " + std::to_string(bytes) + " bytes";
    return TSR_OUT_OF_MEMORY;
  }
  // Later units of a causal head cost more: take them first.
  std::atomic<int64_t> left{count};
  inParallel(threads, [&](int thread) {
    for (int64_t i = --left; i >= 0; i = --left)
      runner.run(p, units.at(i), scratch + size_t(thread) * bytes);
  });
  return 0;
}
