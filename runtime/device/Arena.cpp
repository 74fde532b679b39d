#include "runtime/device/Arena.h"

#include "runtime/support/Status.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sys/mman.h>

namespace tessera {

void Arena::allocate(int64_t size) {
  int64_t mapped = size > 0 ? size : 64;
  void *memory = mmap(nullptr, mapped, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    fail(TSR_OUT_OF_MEMORY, "cannot allocate an arena of ", size,
         " bytes: ", std::strerror(errno),
         "; use more ranks, a smaller batch or recomputation");
  madvise(memory, mapped, MADV_HUGEPAGE); // a wish; refusal does no harm
  base = static_cast<unsigned char *>(memory);
  bytes = mapped;
}

Arena::~Arena() {
  if (base)
    munmap(base, bytes);
}

void Arena::zero(int64_t offset, int64_t size) {
  // Whole huge pages: parts of one would split it.
  constexpr int64_t page = 2 << 20;
  const auto address = reinterpret_cast<uintptr_t>(base) + offset;
  const auto head = static_cast<int64_t>(-address % page);
  const int64_t whole = (size - head) / page * page;
  unsigned char *first = base + offset;
  if (whole <= 0 || madvise(first + head, whole, MADV_DONTNEED) != 0) {
    std::memset(first, 0, size);
    return;
  }
  std::memset(first, 0, head);
  std::memset(first + head + whole, 0, size - head - whole);
}

void Arena::poison() { std::memset(base, 0xFF, bytes); }

/// Bytes the kernel says it can give without swapping; -1 if unknown.
static int64_t availableMemory() {
  std::ifstream file("/proc/meminfo");
  std::string key, unit;
  for (int64_t kib = 0; file >> key >> kib; std::getline(file, unit))
    if (key == "MemAvailable:")
      return kib * 1024;
  return -1;
}

void checkMemory(int64_t bytes, int64_t ranks) {
  int64_t available = availableMemory();
  if (available < 0 || bytes <= available / ranks)
    return;
  fail(TSR_OUT_OF_MEMORY, "the arenas need ", ranks, " x ", bytes,
       " bytes, the machine has ", available,
       " available; use a smaller batch, recomputation or a machine with more "
       "memory");
}

} // namespace tessera
