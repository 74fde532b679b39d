//===- AbstractArena.cpp - who wrote which byte last ----------------------===//

#include "lib/Memory/AbstractArena.h"

using namespace tessera::rt;

void AbstractArena::write(ByteRange bytes, int64_t content,
                          mlir::Operation *writer) {
  auto it = entries.upper_bound(bytes.begin);
  if (it != entries.begin() && std::prev(it)->second.bytes.end > bytes.begin)
    --it;
  // A frame is often followed by the same frame of another micro-batch.
  if (it != entries.end() && it->second.bytes == bytes) {
    it->second = {bytes, content, writer};
    return;
  }
  while (it != entries.end() && it->first < bytes.end) {
    Entry old = it->second;
    it = entries.erase(it);
    if (old.bytes.begin < bytes.begin) {
      Entry left = old;
      left.bytes.end = bytes.begin;
      entries[left.bytes.begin] = left;
    }
    if (old.bytes.end > bytes.end) {
      Entry right = old;
      right.bytes.begin = bytes.end;
      entries[right.bytes.begin] = right;
    }
  }
  entries[bytes.begin] = {bytes, content, writer};
}

const AbstractArena::Entry *AbstractArena::findOther(ByteRange bytes,
                                                     int64_t content) {
  int64_t next = bytes.begin;
  auto it = entries.upper_bound(bytes.begin);
  if (it != entries.begin() && std::prev(it)->second.bytes.end > bytes.begin)
    --it;
  for (; it != entries.end() && it->first < bytes.end; ++it) {
    bool gap = it->first > next && content != 0;
    if (gap)
      break;
    if (it->second.content != content)
      return &it->second;
    next = it->second.bytes.end;
  }
  if (content == 0 || next >= bytes.end)
    return nullptr;
  hole = {{next, it == entries.end() ? bytes.end : it->first}, 0, nullptr};
  return &hole;
}
