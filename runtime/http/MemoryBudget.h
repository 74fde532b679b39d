//===- MemoryBudget.h - what all clients together hold ----------*- C++ -*-===//

#ifndef TESSERA_RUNTIME_HTTP_MEMORYBUDGET_H
#define TESSERA_RUNTIME_HTTP_MEMORYBUDGET_H

#include <atomic>
#include <cstddef>
#include <memory>

namespace tessera::http {

struct MemoryBudget {
  explicit MemoryBudget(std::size_t most) : most(most) {}
  bool isOver() const { return held > most; }

  const std::size_t most;
  std::atomic<std::size_t> held{0};
};

/// The part of a budget that one request or answer holds. The first bytes are
/// free, so that small requests are answered when large ones use the budget up.
class MemoryShare {
public:
  static constexpr std::size_t kFree = 16 << 10;

  explicit MemoryShare(std::shared_ptr<MemoryBudget> budget)
      : budget(std::move(budget)) {}
  ~MemoryShare() { set(0); }
  MemoryShare(const MemoryShare &) = delete;
  MemoryShare &operator=(const MemoryShare &) = delete;

  void set(std::size_t bytes) {
    const std::size_t counted = bytes > kFree ? bytes - kFree : 0;
    budget->held += counted - held;
    held = counted;
  }
  bool isFree() const { return held == 0; }

private:
  const std::shared_ptr<MemoryBudget> budget;
  std::atomic<std::size_t> held{0};
};

} // namespace tessera::http

#endif // TESSERA_RUNTIME_HTTP_MEMORYBUDGET_H
