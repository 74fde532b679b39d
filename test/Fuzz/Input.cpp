#include "test/Fuzz/Input.h"

#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>
#include <unistd.h>

namespace fuzzed {

void require(bool holds, const char *what) {
  if (holds)
    return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

MemoryFile::MemoryFile(std::string_view content)
    : descriptor(memfd_create("fuzzed", MFD_CLOEXEC)),
      name("/proc/self/fd/" + std::to_string(descriptor)) {
  require(descriptor >= 0, "a file can be made in memory");
  while (!content.empty()) {
    ssize_t done = write(descriptor, content.data(), content.size());
    require(done > 0, "a file in memory can be written");
    content.remove_prefix(static_cast<size_t>(done));
  }
}

MemoryFile::~MemoryFile() { close(descriptor); }

uint8_t Input::byte() {
  std::string_view one = bytes(1);
  return one.empty() ? 0 : static_cast<uint8_t>(one[0]);
}

uint16_t Input::word() {
  unsigned low = byte();
  return static_cast<uint16_t>(low | byte() << 8);
}

std::string_view Input::bytes(size_t count) {
  std::string_view result = left.substr(0, count);
  left.remove_prefix(result.size());
  return result;
}

} // namespace fuzzed
