//===- Arena.h - a rank's memory --------------------------------*- C++ -*-===//
#ifndef TESSERA_RUNTIME_DEVICE_ARENA_H
#define TESSERA_RUNTIME_DEVICE_ARENA_H

#include <cstddef>
#include <cstdint>

namespace tessera {

/// Pages that read as zero until written, aligned to 64 bytes at least. The
/// size is fixed at compile time of the program: it is the rank's peak.
class Arena {
public:
  Arena() = default;
  Arena(const Arena &) = delete;
  Arena &operator=(const Arena &) = delete;
  ~Arena();

  /// Allocates the arena. TSR_OUT_OF_MEMORY with the size.
  void allocate(int64_t bytes);
  /// Sets all bits: every floating point element is NaN, every integer -1.
  void poison();
  /// Gives the pages within back, so that those which nobody uses take no time
  /// and no memory.
  void zero(int64_t offset, int64_t size);
  unsigned char *data() const { return base; }
  int64_t size() const { return bytes; }

private:
  unsigned char *base = nullptr;
  int64_t bytes = 0;
};

/// Fails with TSR_OUT_OF_MEMORY if the machine cannot give `bytes` now: better
/// a message before than the kernel's out-of-memory killer during the run.
void checkMemory(int64_t bytes, int64_t ranks);

} // namespace tessera

#endif // TESSERA_RUNTIME_DEVICE_ARENA_H
