//===- ReplayTest.cpp - corpora and mutations, without a fuzzer -----------===//
// Faults that fuzzers have found must stay mended, on every build: each target
// takes its corpus and mutations of it, the same in every run.
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <random>
#include <string>
#include <vector>

using Target = int (*)(const uint8_t *, size_t);
#define FUZZ_TARGET(name, ...)                                                 \
  extern "C" int fuzz##name(const uint8_t *, size_t);
#include FUZZ_TARGETS
#undef FUZZ_TARGET

namespace {

constexpr int mutationsPerTarget = MUTATIONS_PER_TARGET, changesPerMutation = 4;

struct Case {
  const char *name;
  Target target;
};
constexpr Case cases[] = {
#define FUZZ_TARGET(name, ...) {#name, fuzz##name},
#include FUZZ_TARGETS
#undef FUZZ_TARGET
};

std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> corpusOf(const std::string &name) {
  std::vector<std::string> paths, inputs;
  for (const auto &entry : std::filesystem::directory_iterator(
           std::string(FUZZ_FOLDER "/corpus/") + name))
    paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  for (const std::string &path : paths)
    inputs.push_back(readFile(path));
  return inputs;
}

/// Changes bytes as fuzzers do.
class Mutator {
public:
  explicit Mutator(const std::vector<std::string> &corpus) : corpus(corpus) {}

  std::string next() {
    std::string bytes = any();
    for (size_t changes = 1 + below(changesPerMutation); changes > 0; --changes)
      change(bytes);
    return bytes;
  }

private:
  size_t below(size_t limit) { return limit == 0 ? 0 : random() % limit; }
  const std::string &any() { return corpus[below(corpus.size())]; }

  void change(std::string &bytes) {
    size_t at = below(bytes.size()), length = 1 + below(16);
    switch (below(7)) {
    case 0: // one bit
      if (!bytes.empty())
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
      return;
    case 1: // one byte
      if (!bytes.empty())
        bytes[at] = static_cast<char>(random());
      return;
    case 2:
      return void(bytes.erase(at, length));
    case 3:
      return void(bytes.insert(at, bytes.substr(at, length)));
    case 4:
      return bytes.resize(at);
    case 5:
      return overwrite(bytes, at);
    default: // the end of another
      const std::string &other = any();
      bytes = bytes.substr(0, at) + other.substr(below(other.size()));
    }
  }

  /// Overwrites bytes with a number at which integers overflow.
  void overwrite(std::string &bytes, size_t at) {
    constexpr uint64_t edges[] = {0,
                                  1,
                                  INT32_MAX,
                                  UINT32_MAX,
                                  uint64_t(1) << 40,
                                  INT64_MAX,
                                  uint64_t(1) << 63,
                                  UINT64_MAX};
    uint64_t edge = edges[below(std::size(edges))];
    size_t length = std::min(size_t(1) << below(4), bytes.size() - at);
    if (length != 0)
      std::memcpy(&bytes[at], &edge, length);
  }

  const std::vector<std::string> &corpus;
  std::mt19937_64 random{20240520};
};

int run(const Case &of, const std::string &bytes) {
  return of.target(reinterpret_cast<const uint8_t *>(bytes.data()),
                   bytes.size());
}

class Fuzz : public testing::TestWithParam<Case> {};

TEST_P(Fuzz, CorpusAndMutations) {
  std::vector<std::string> corpus = corpusOf(GetParam().name);
  ASSERT_FALSE(corpus.empty());
  EXPECT_EQ(run(GetParam(), ""), 0);
  for (const std::string &bytes : corpus)
    EXPECT_EQ(run(GetParam(), bytes), 0);
  Mutator mutator(corpus);
  for (int i = 0; i < mutationsPerTarget; ++i)
    EXPECT_EQ(run(GetParam(), mutator.next()), 0);
}

INSTANTIATE_TEST_SUITE_P(, Fuzz, testing::ValuesIn(cases),
                         [](const auto &info) {
                           return std::string(info.param.name);
                         });

} // namespace
