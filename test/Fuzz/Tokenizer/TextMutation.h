//===- TextMutation.h - texts and numbers that break tokenizers -*- C++ -*-===//
#ifndef TESSERA_TEST_FUZZ_TOKENIZER_TEXTMUTATION_H
#define TESSERA_TEST_FUZZ_TOKENIZER_TEXTMUTATION_H

#include <cstdint>
#include <random>
#include <string>

namespace fuzzed {

using Random = std::mt19937_64;

inline size_t below(Random &random, size_t limit) {
  return limit == 0 ? 0 : random() % limit;
}

/// Repeats, inserts, removes or exchanges characters, or parts of them.
std::string changeText(std::string text, Random &random);

/// Returns a number at which integers and floats end.
double edgeNumber(Random &random);

/// Splits an input into its text and its file.
struct TextAndFile {
  TextAndFile(const uint8_t *data, size_t size);
  /// Writes them to `data`; returns the bytes.
  size_t write(uint8_t *data, size_t most) const;

  std::string text, file;
};

} // namespace fuzzed

#endif // TESSERA_TEST_FUZZ_TOKENIZER_TEXTMUTATION_H
