//===- Workspace.h - Scratch memory that is kept between calls --*- C++ -*-===//
// Each entry keeps one Workspace per rank thread, so that a step allocates
// nothing after the first. Memory is freed when the rank's thread ends.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CPU_WORKSPACE_H
#define TESSERA_RUNTIME_CPU_WORKSPACE_H

#include <cstddef>
#include <cstdlib>

namespace tessera {

class Workspace {
public:
  Workspace() = default;
  Workspace(const Workspace &) = delete;
  Workspace &operator=(const Workspace &) = delete;
  ~Workspace() { std::free(memory); }

  /// Returns at least `bytes` of 64-byte aligned memory with undefined
  /// contents, valid until the next call; null if there is not enough memory.
  void *reserve(size_t bytes) {
    if (bytes <= capacity)
      return memory;
    std::free(memory);
    capacity = (bytes + 63) / 64 * 64;
    memory = std::aligned_alloc(64, capacity);
    if (!memory)
      capacity = 0;
    return memory;
  }

private:
  void *memory = nullptr;
  size_t capacity = 0;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_CPU_WORKSPACE_H
