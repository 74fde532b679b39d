//===- Seeds.h - puts a file into a corpus ----------------------*- C++ -*-===//
#ifndef TESSERA_TEST_FUZZ_RUNTIME_SEEDS_H
#define TESSERA_TEST_FUZZ_RUNTIME_SEEDS_H

#include <string>

namespace seeds {

void seed(const std::string &target, const std::string &name,
          const std::string &bytes);

template <class Value> std::string bytesOf(const Value &value) {
  return {reinterpret_cast<const char *>(&value), sizeof value};
}

/// Writes the corpora of Data and MegatronIndex.
void writeData();
/// Writes the corpora of Hello, Reception and Frame.
void writeMessages();

} // namespace seeds

#endif // TESSERA_TEST_FUZZ_RUNTIME_SEEDS_H
