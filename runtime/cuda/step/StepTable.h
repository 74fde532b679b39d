//===- StepTable.h - what differs from step to step -------------*- C++ -*-===//
// The int64 scalars of launches and the keys of dropout. A step first walks its
// program and puts them down in order; they go to the device in one copy; the
// launches then take their addresses in the same order. So addresses stay the
// same from step to step and a captured graph can be launched again.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CUDA_STEP_STEPTABLE_H
#define TESSERA_RUNTIME_CUDA_STEP_STEPTABLE_H

#include <cstdint>
#include <vector>

namespace tessera::cuda {

class StepTable {
public:
  /// Before the walk that notes.
  void clear() { words.clear(); }
  void put(const int64_t *values, int64_t count) {
    words.insert(words.end(), values, values + count);
  }

  /// Before a walk that queues; `address` is where the words lie on the device.
  void begin(const int64_t *address) {
    next = address;
    end = address + words.size();
  }
  /// Whether that walk put as much.
  bool has(int64_t count) const { return end - next >= count; }
  const int64_t *take(int64_t count) {
    const int64_t *taken = next;
    next += count;
    return taken;
  }

  const std::vector<int64_t> &values() const { return words; }

private:
  std::vector<int64_t> words;
  const int64_t *next = nullptr, *end = nullptr;
};

/// Tells whether two walks made the same calls; everything but the table's
/// words belongs to it. FNV-1a over words.
class CallDigest {
public:
  void add(const void *pointer) { add(reinterpret_cast<uint64_t>(pointer)); }
  void add(uint64_t word) {
    digest = (digest ^ word) * 1099511628211u;
    digest ^= digest >> 29;
  }
  void add(int64_t word) { add(static_cast<uint64_t>(word)); }
  uint64_t value() const { return digest; }

private:
  uint64_t digest = 14695981039346656037u;
};

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_STEP_STEPTABLE_H
