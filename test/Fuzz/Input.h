//===- Input.h - bytes of a fuzzer ------------------------------*- C++ -*-===//
// Every target is one LLVMFuzzerTestOneInput, which the replay of the corpora
// knows by a name of its own (Targets.def). A parser takes its input or refuses
// it with an error; everything else ends the process, and is a finding.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_TEST_FUZZ_INPUT_H
#define TESSERA_TEST_FUZZ_INPUT_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

namespace fuzzed {

/// Ends the process if something that must hold does not.
void require(bool holds, const char *what);

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

#endif // TESSERA_TEST_FUZZ_INPUT_H
