//===- CodeTarget.cpp - the ELF file in an artifact, not loaded -----------===//
#include "runtime/artifact/Code.h"
#include "test/Fuzz/Runtime/Fuzzed.h"

using namespace tessera;
using namespace fuzzed;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string bytes(reinterpret_cast<const char *>(data), size);
  accepts([&] { Code code("'x'", std::move(bytes)); });
  return 0;
}
