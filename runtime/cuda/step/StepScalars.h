//===- StepScalars.h - what differs from step to step -----------*- C++ -*-===//
// The per-step scalars are the int64 scalars of launches and the keys of
// dropout. The recording pass of a step collects them in order. They go to the
// device in one copy, and the submission pass takes their addresses in the same
// order. Addresses therefore stay the same from step to step, so that a
// captured graph can be launched again.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CUDA_STEP_STEPSCALARS_H
#define TESSERA_RUNTIME_CUDA_STEP_STEPSCALARS_H

#include <cstdint>
#include <vector>

namespace tessera::cuda {

class StepScalars {
public:
  /// Clears the scalars before a recording pass.
  void clear() { scalars.clear(); }
  void put(const int64_t *values, int64_t count) {
    scalars.insert(scalars.end(), values, values + count);
  }

  /// Begins a submission pass; `address` is where the scalars lie on the
  /// device.
  void begin(const int64_t *address) {
    next = address;
    end = address + scalars.size();
  }
  /// Returns whether the recording pass put that many more.
  bool has(int64_t count) const { return end - next >= count; }
  const int64_t *take(int64_t count) {
    const int64_t *taken = next;
    next += count;
    return taken;
  }

  const std::vector<int64_t> &values() const { return scalars; }

private:
  std::vector<int64_t> scalars;
  const int64_t *next = nullptr, *end = nullptr;
};

/// Tells whether two steps make the same calls: a hash (FNV-1a over words) of
/// everything but the per-step scalars.
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

#endif // TESSERA_RUNTIME_CUDA_STEP_STEPSCALARS_H
