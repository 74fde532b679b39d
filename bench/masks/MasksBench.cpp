//===- MasksBench.cpp - What documents and padding cost and save ----------===//
// Usage: masks-bench [tokens]. Processor time of one thread, so that others on
// the machine do not count; candidates in turns, medians. Ratios are to causal
// attention without segments.
//===----------------------------------------------------------------------===//

#include "runtime/cpu/CpuEntries.h"
#include "tessera/abi.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <random>
#include <string>
#include <vector>

using namespace tessera;

namespace {
constexpr int64_t kBatch = 8, kHeads = 4, kDims = 64, kWidth = kHeads * kDims;

double processorSeconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

int64_t bitsOf(double value) {
  int64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

/// Heads of GPT-2; tensors lie apart.
class Problem {
public:
  explicit Problem(int64_t tokens)
      : tokens(tokens), lse(size_t(kBatch * kHeads * tokens)) {
    std::mt19937 random(1);
    for (std::vector<float> *x : {&q, &k, &v, &dO, &o, &dQ, &dK, &dV}) {
      x->resize(size_t(kBatch * tokens * kWidth));
      for (float &value : *x)
        value = float(random() % 2001) / 1000.0f - 1.0f;
    }
  }

  /// Returns the seconds of forward or backward; no segments: all keys before
  /// are seen.
  double run(bool backward, std::vector<int32_t> &segments) {
    int64_t args[TSR_ATTENTION_ARGS] = {
        kBatch, kHeads, kHeads, tokens,
        tokens, kDims,  kWidth, kWidth,
        kWidth, kWidth, kWidth, kWidth,
        kWidth, kWidth, 1,      bitsOf(1 / std::sqrt(double(kDims)))};
    args[TSR_ATTENTION_HEADS_TOTAL] = kHeads;
    args[TSR_ATTENTION_QUERIES_TOTAL] = tokens;
    args[TSR_ATTENTION_SEGMENTS] = !segments.empty();
    void *forwards[] = {q.data(),   k.data(),        v.data(),       o.data(),
                        lse.data(), segments.data(), segments.data()};
    void *backwards[] = {dO.data(), q.data(),        k.data(),       v.data(),
                         o.data(),  lse.data(),      dQ.data(),      dK.data(),
                         dV.data(), segments.data(), segments.data()};
    std::string error;
    const double start = processorSeconds();
    const int32_t status =
        backward ? cpuAttentionBackward(1, backwards, args, &error)
                 : cpuAttention(1, forwards, args, &error);
    if (status == 0)
      return processorSeconds() - start;
    std::fprintf(stderr, "%s\n", error.c_str());
    std::exit(1);
  }

private:
  int64_t tokens;
  std::vector<float> q, k, v, dO, o, dQ, dK, dV, lse;
};

struct Candidate {
  const char *name;
  std::vector<int32_t> segments;
  std::vector<double> seconds = {};
};

/// Returns the segments of all sequences: documents whose lengths are
/// exponentially distributed.
std::vector<int32_t> documents(int64_t tokens, double mean) {
  std::mt19937 random(7);
  std::exponential_distribution<double> length(1 / mean);
  std::vector<int32_t> segments;
  for (int64_t end = tokens; end <= kBatch * tokens; end += tokens) {
    for (int32_t document = 0; int64_t(segments.size()) < end; ++document)
      segments.insert(segments.end(), size_t(1 + length(random)), document);
    segments.resize(size_t(end));
  }
  return segments;
}

/// Returns segments of equal lengths.
std::vector<int32_t> equal(int64_t tokens, int64_t length) {
  std::vector<int32_t> segments;
  for (int64_t i = 0; i < kBatch * tokens; ++i)
    segments.push_back(int32_t(i % tokens / length));
  return segments;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2,
                   values.end());
  return values[values.size() / 2];
}
} // namespace

int main(int argc, char **argv) {
  const int64_t tokens = argc > 1 ? std::atol(argv[1]) : 1024;
  if (tokens < 8) {
    std::fprintf(stderr, "masks-bench [tokens]: at least 8\n");
    return 1;
  }
  const double mean = double(tokens) / 4;
  Problem problem(tokens);
  for (bool backward : {false, true}) {
    std::vector<Candidate> candidates = {
        {"no segments", {}},
        {"one document", equal(tokens, tokens)},
        {"four equal documents", equal(tokens, (tokens + 3) / 4)},
        {"documents of mean length s/4", documents(tokens, mean)}};
    constexpr int kTurns = 21;
    for (int turn = 0; turn < kTurns; ++turn)
      for (Candidate &c : candidates) {
        if (backward)
          problem.run(false, c.segments);
        c.seconds.push_back(problem.run(backward, c.segments));
      }
    const double plain = median(candidates[0].seconds);
    for (const Candidate &c : candidates)
      std::printf("%-8s %5ld tokens  %-29s %7.2f ms  %.2f\n",
                  backward ? "backward" : "forward", long(tokens), c.name,
                  median(c.seconds) * 1e3, median(c.seconds) / plain);
  }
}
