#include "runtime/collectives/process/GroupCall.h"

#include <algorithm>

namespace tessera {

// Buffers begin at multiples of a cache line.
static constexpr int64_t scratchAlignment = 64;

void Scratch::reset() {
  int64_t total = 0;
  for (Chunk &chunk : chunks) {
    total += chunk.bytes;
    chunk.used = 0;
  }
  if (chunks.size() < 2)
    return;
  // The next call as large finds one piece.
  chunks.clear();
  take(total);
  chunks.back().used = 0;
}

unsigned char *Scratch::take(int64_t bytes) {
  bytes = (bytes + scratchAlignment - 1) / scratchAlignment * scratchAlignment;
  if (chunks.empty() || chunks.back().used + bytes > chunks.back().bytes) {
    const int64_t room = bytes + scratchAlignment;
    chunks.push_back({std::unique_ptr<unsigned char[]>(
                          new unsigned char[static_cast<size_t>(room)]),
                      room, 0});
    auto address = reinterpret_cast<uintptr_t>(chunks.back().data.get());
    chunks.back().used =
        static_cast<int64_t>(-address % uintptr_t(scratchAlignment));
  }
  unsigned char *taken = chunks.back().data.get() + chunks.back().used;
  chunks.back().used += bytes;
  return taken;
}

Transfer &GroupCall::transferOf(int64_t member) {
  const int64_t peer = group.ranks[static_cast<size_t>(member)];
  auto found =
      std::find_if(transfers.begin(), transfers.end(),
                   [&](const Transfer &known) { return known.peer == peer; });
  if (found != transfers.end())
    return *found;
  transfers.push_back({peer});
  transfers.back().sends = transfers.back().receives = false;
  return transfers.back();
}

void GroupCall::send(int64_t member, const void *data, int64_t bytes) {
  Transfer &transfer = transferOf(member);
  transfer.sends = true;
  if (bytes > 0)
    transfer.out.push_back({data, bytes});
}

void GroupCall::receive(int64_t member, void *data, int64_t bytes) {
  Transfer &transfer = transferOf(member);
  transfer.receives = true;
  if (bytes > 0)
    transfer.in.push_back({data, bytes});
}

void GroupCall::meet(int64_t member) {
  Transfer &transfer = transferOf(member);
  transfer.sends = transfer.receives = true;
}

Status GroupCall::exchange() {
  if (isFirst && group.size() > 1) {
    send(group.after(-1), nullptr, 0);
    receive(group.after(1), nullptr, 0);
  }
  isFirst = false;
  Status status = tessera::exchange(world, call, transfers);
  transfers.clear();
  return status;
}

} // namespace tessera
