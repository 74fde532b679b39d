//===- SharedMemory.cpp - Shared memory that is watched -------------------===//

#include "test/Runtime/cuda/attention/SharedMemory.h"

#include <cstddef>
#include <cstring>

using namespace tessera::test;

static constexpr size_t kAlignment = 1024;

SharedMemory::SharedMemory(int size, int threads)
    : storage(size_t(size) + kAlignment), bytes(size_t(size)),
      state(size_t(size) / 4), copies(size_t(threads)),
      groups(size_t(threads)) {
  const uintptr_t at = reinterpret_cast<uintptr_t>(storage.data());
  base = storage.data() + (kAlignment - at % kAlignment) % kAlignment;
}

void SharedMemory::report(const std::string &what) {
  if (firstDefect.empty())
    firstDefect = what;
}

/// All ones are NaN in f32 and in bf16.
void SharedMemory::start() {
  firstDefect.clear();
  if (bytes)
    std::memset(base, 0xff, bytes);
  epoch = 0;
  for (Word &word : state)
    word = {kNobody, kNobody, false, -1, -1};
  for (std::vector<Copy> &list : copies)
    list.clear();
  groups.assign(groups.size(), 0);
}

void SharedMemory::finish() {
  for (const std::vector<Copy> &list : copies)
    if (!list.empty())
      report("a thread ends with copies in flight");
}

void SharedMemory::reportRead(const Word &word) {
  if (word.inFlight)
    report("a read of a copy in flight");
  else if (word.writer == kNobody)
    report("a read of what nobody wrote");
  else
    report("a read races with a write");
}

void SharedMemory::reportWrite(const Word &word, int thread) {
  if (word.inFlight)
    report("a write onto a copy in flight");
  if (word.written == epoch && word.writer != thread)
    report("a write races with a write");
  if (word.wasRead == epoch && word.reader != thread)
    report("a write races with a read");
}

void SharedMemory::reportPlace(size_t offset, int count) {
  if (offset > bytes || offset + size_t(count) > bytes)
    report("an access lies outside of shared memory");
  else
    report("an access to shared memory is not aligned");
}

void SharedMemory::copy(int thread, void *to, const void *from, int count,
                        bool exists) {
  size_t first, end;
  write(thread, to, count);
  if (!words(to, count, &first, &end))
    return;
  if (exists && reinterpret_cast<uintptr_t>(from) % uintptr_t(count) != 0)
    report("the source of a copy is not aligned");
  std::memset(to, 0xff, size_t(count));
  for (; first < end; ++first)
    state[first].inFlight = true;
  copies[size_t(thread)].push_back({static_cast<unsigned char *>(to), from,
                                    count, exists, groups[size_t(thread)]});
}

void SharedMemory::group(int thread) { ++groups[size_t(thread)]; }

void SharedMemory::wait(int thread) {
  arrive(thread, groups[size_t(thread)] + 1);
}

void SharedMemory::waitGroups(int thread, int pending) {
  arrive(thread, groups[size_t(thread)] - pending);
}

/// Copies are in order of their groups.
void SharedMemory::arrive(int thread, int groupsEnd) {
  std::vector<Copy> &list = copies[size_t(thread)];
  size_t done = 0;
  for (; done < list.size() && list[done].group < groupsEnd; ++done) {
    const Copy &copy = list[done];
    if (copy.exists)
      std::memcpy(copy.to, copy.from, size_t(copy.bytes));
    else
      std::memset(copy.to, 0, size_t(copy.bytes));
    size_t first, end;
    words(copy.to, copy.bytes, &first, &end);
    for (; first < end; ++first) {
      state[first].inFlight = false;
      state[first].written = epoch; // visible to others behind a barrier
    }
  }
  list.erase(list.begin(), list.begin() + std::ptrdiff_t(done));
}

void SharedMemory::readRows(const void *const *rows) {
  unsigned seen = 0;
  for (int i = 0; i < 8; ++i)
    seen |= 1u << (reinterpret_cast<uintptr_t>(rows[i]) / 16 % 8);
  if (seen != 0xff)
    report("the rows of a matrix share banks");
}
