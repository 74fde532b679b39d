//===- Fuzzed.h - bytes of a fuzzer, and what may become of them *- C++ -*-===//
// A parser takes its input or refuses it with an Error; everything else ends
// the process, and is a finding. Every target is one LLVMFuzzerTestOneInput,
// which the replay of the corpora knows by a name of its own (Targets.def).
//===----------------------------------------------------------------------===//
#ifndef TESSERA_TEST_FUZZ_RUNTIME_FUZZED_H
#define TESSERA_TEST_FUZZ_RUNTIME_FUZZED_H

#include "runtime/collectives/process/Socket.h"
#include "runtime/support/Status.h"

#include <cstdint>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

namespace fuzzed {

/// Ends the process if something that must hold does not.
void require(bool holds, const char *what);

/// Whether `parse` takes its input; if not, the refusal says why.
template <class Parse> bool accepts(const Parse &parse) {
  try {
    parse();
    return true;
  } catch (const tessera::Error &error) {
    require(error.status.code != TSR_OK, "an error has a code");
    require(!error.status.message.empty(), "an error says why");
    return false;
  }
}

/// A regular file with this content, in no directory.
class MemoryFile {
public:
  explicit MemoryFile(std::string_view content);
  MemoryFile(const MemoryFile &) = delete;
  MemoryFile &operator=(const MemoryFile &) = delete;
  ~MemoryFile();

  const std::string &path() const { return name; }

private:
  int descriptor;
  std::string name;
};

/// A connection whose other side sends these bytes, as many as fit into its
/// buffer, and then no more.
class Sent {
public:
  explicit Sent(std::string_view bytes);

  const tessera::Socket &socket() const { return own; }

private:
  tessera::Socket own, other;
};

/// Takes an input apart from its front. What it lacks is zero.
class Input {
public:
  Input(const uint8_t *data, size_t size)
      : left(reinterpret_cast<const char *>(data), size) {}

  bool empty() const { return left.empty(); }
  uint8_t byte();
  uint16_t word();
  std::string_view bytes(size_t count);
  std::string_view rest() { return bytes(left.size()); }

private:
  std::string_view left;
};

} // namespace fuzzed

#endif // TESSERA_TEST_FUZZ_RUNTIME_FUZZED_H
