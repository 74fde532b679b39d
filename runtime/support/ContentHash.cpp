//===- ContentHash.cpp - what a file holds, as a number -------------------===//
#include "runtime/support/ContentHash.h"

#include "runtime/support/Status.h"
#include "runtime/support/ThreadTeam.h"

#include <algorithm>
#include <thread>

namespace tessera {

// More threads would wait for memory.
static constexpr int64_t mostThreads = 16;
// Fewer blocks are hashed before another thread has started.
static constexpr int64_t blocksPerThread = 8;

uint64_t hashOfBlocks(int64_t blocks,
                      const std::function<uint64_t(int64_t)> &hashOf,
                      HashThreads threads) {
  auto cores = static_cast<int64_t>(std::thread::hardware_concurrency());
  int64_t most = threads == HashThreads::One
                     ? 1
                     : std::clamp(cores, int64_t(1), mostThreads);
  int64_t parts = std::clamp(blocks / blocksPerThread, int64_t(1), most);
  std::vector<uint64_t> hashes(blocks);
  inParallel(static_cast<int>(parts), [&](int64_t part) {
    for (int64_t block = part; block < blocks; block += parts)
      hashes[block] = hashOf(block);
  });
  return hashBytes(hashes.data(), hashes.size() * sizeof(uint64_t));
}

uint64_t contentHash(const InputFile &file) {
  constexpr uint64_t most = 1 << 20;
  auto blocks = static_cast<int64_t>((file.size() + most - 1) / most);
  auto hashOf = [&](int64_t block) {
    uint64_t first = static_cast<uint64_t>(block) * most;
    std::vector<char> bytes(std::min(most, file.size() - first));
    file.read(first, bytes.data(), bytes.size());
    return hashBytes(bytes.data(), bytes.size());
  };
  return hashOfBlocks(blocks, hashOf, HashThreads::All);
}

FileContent contentOf(const std::string &path) {
  InputFile file(path);
  return {path, concat(file.size(), " bytes (hash ",
                       hashText(contentHash(file)), ")")};
}

} // namespace tessera
