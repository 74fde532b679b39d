//===- SharedMemory.h - Shared memory that is watched -----------*- C++ -*-===//
// Remembers per word who wrote and read it since the last barrier. Kernels here
// order shared memory by barriers of the whole block only, so two threads that
// touch a word between two barriers, one of them writing, race.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_TEST_RUNTIME_CUDA_ATTENTION_SHAREDMEMORY_H
#define TESSERA_TEST_RUNTIME_CUDA_ATTENTION_SHAREDMEMORY_H

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::test {

class SharedMemory {
public:
  SharedMemory(int bytes, int threads);

  unsigned char *data() { return base; }
  const std::string &defect() const { return firstDefect; }
  void report(const std::string &what);

  void start();
  void barrier() { ++epoch; }
  void finish();

  void read(int thread, const void *at, int bytes);
  void write(int thread, const void *at, int bytes);
  /// Copies asynchronously: the words are garbage until `thread` waits.
  void copy(int thread, void *to, const void *from, int bytes, bool exists);
  void wait(int thread);
  /// The copies since the last call are a group, empty or not; the groups but
  /// the last `pending` arrive.
  void group(int thread);
  void waitGroups(int thread, int pending);
  /// Reads eight rows of 16 bytes, which the hardware does at once.
  void readRows(const void *const *rows);

private:
  static constexpr int16_t kNobody = -1, kSeveral = -2;
  struct Word {
    int16_t writer, reader;
    bool inFlight;
    int32_t written, wasRead; /* epochs */
  };
  struct Copy {
    unsigned char *to;
    const void *from;
    int bytes;
    bool exists;
    int group;
  };

  void arrive(int thread, int groupsEnd);
  void reportRead(const Word &word);
  void reportWrite(const Word &word, int thread);
  void reportPlace(size_t offset, int count);

  /// Finds the words of [at, at + bytes), a power of two; reports a range that
  /// is out of bounds or crooked.
  bool words(const void *at, int bytes, size_t *first, size_t *end);

  std::vector<unsigned char> storage;
  unsigned char *base;
  size_t bytes;
  std::vector<Word> state;
  std::vector<std::vector<Copy>> copies; /* each thread's */
  std::vector<int> groups;               /* each thread's number of groups so
                                            far */
  int32_t epoch = 0;
  std::string firstDefect;
};

// These run at every access of a kernel, so they are inline.

inline bool SharedMemory::words(const void *at, int count, size_t *first,
                                size_t *end) {
  const size_t offset =
      reinterpret_cast<uintptr_t>(at) - reinterpret_cast<uintptr_t>(base);
  if (offset > bytes || offset + size_t(count) > bytes ||
      (offset & (size_t(count) - 1)) != 0) {
    reportPlace(offset, count);
    return false;
  }
  *first = offset / 4;
  *end = *first + size_t(count) / 4;
  return true;
}

inline void SharedMemory::read(int thread, const void *at, int count) {
  size_t first, end;
  if (!words(at, count, &first, &end))
    return;
  for (; first < end; ++first) {
    Word &word = state[first];
    if (word.inFlight || word.writer == kNobody ||
        (word.written == epoch && word.writer != thread))
      reportRead(word);
    const bool again = word.wasRead == epoch && word.reader != thread;
    word.reader = again ? kSeveral : int16_t(thread);
    word.wasRead = epoch;
  }
}

inline void SharedMemory::write(int thread, const void *at, int count) {
  size_t first, end;
  if (!words(at, count, &first, &end))
    return;
  for (; first < end; ++first) {
    Word &word = state[first];
    if (word.inFlight || (word.written == epoch && word.writer != thread) ||
        (word.wasRead == epoch && word.reader != thread))
      reportWrite(word, thread);
    word.writer = int16_t(thread);
    word.written = epoch;
  }
}

} // namespace tessera::test

#endif // TESSERA_TEST_RUNTIME_CUDA_ATTENTION_SHAREDMEMORY_H
