//===- RingBench.cpp - Causal attention of a ring, rank by rank -----------===//
// Usage: ring-bench [ranks] [tokens]
// Processor time of the calls that each rank makes for one layer of GPT-2 124M
// in f32: with contiguous slices, and with an early and a late chunk each
// (rt.zigzag). On one thread, one rank after the other, the two orders in turns
// because the machine's rate drifts. Messages are not in it.
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

constexpr int64_t kHeads = 12, kHeadSize = 64, kRow = kHeads * kHeadSize;
constexpr int kRuns = 5;

/// A call: slices of queries and keys; where not masked, all are visible.
struct Call {
  int64_t queries, keys;
  bool masked;
};

/// A way to deal out a sequence to ranks.
struct Deal {
  const char *name;
  int64_t ranks;
  bool isZigzag;

  int64_t slices() const { return isZigzag ? 2 * ranks : ranks; }
  std::vector<Call> calls(int64_t rank, int64_t step) const {
    const int64_t from = (rank + ranks - step) % ranks, last = 2 * ranks - 1;
    if (!isZigzag)
      return {{rank, from, true}};
    return {{last - rank, last - from, true},
            {last - rank, from, false},
            {rank, from, true}};
  }
};

/// Tensors [tokens, heads, head size] of one sequence and what is made of them.
struct Problem {
  explicit Problem(int64_t tokens)
      : tokens(tokens), q(tokens * kRow), k(q), v(q), dO(q), o(q), dQ(q), dK(q),
        dV(q), lse(kHeads * tokens) {
    std::mt19937 random(1);
    for (std::vector<float> *x : {&q, &k, &v, &dO})
      for (float &element : *x)
        element = float(random() % 2001) / 1000.0f - 1.0f;
  }
  int64_t tokens;
  std::vector<float> q, k, v, dO, o, dQ, dK, dV;
  std::vector<float> lse; ///< slices, one behind the other
};

} // namespace

static double processorSeconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

static std::vector<int64_t> argsOf(const Problem &p, const Call &call,
                                   int64_t length, bool earlier) {
  const double scale = 1 / std::sqrt(double(kHeadSize));
  std::vector<int64_t> args(TSR_ATTENTION_ARGS, 0);
  args[TSR_ATTENTION_BATCH] = 1;
  args[TSR_ATTENTION_HEADS] = args[TSR_ATTENTION_KV_HEADS] = kHeads;
  args[TSR_ATTENTION_HEADS_TOTAL] = kHeads;
  args[TSR_ATTENTION_SEQ_Q] = args[TSR_ATTENTION_SEQ_K] = length;
  args[TSR_ATTENTION_HEAD_DIM] = kHeadSize;
  for (int64_t row = TSR_ATTENTION_ROW_Q; row <= TSR_ATTENTION_ROW_DO; ++row)
    args[size_t(row)] = kRow;
  args[TSR_ATTENTION_CAUSAL] = call.masked;
  std::memcpy(&args[TSR_ATTENTION_SCALE_BITS], &scale, sizeof(scale));
  args[TSR_ATTENTION_DTYPE] = TSR_DTYPE_F32;
  args[TSR_ATTENTION_QUERY_START] = call.queries * length;
  args[TSR_ATTENTION_KEY_START] = call.keys * length;
  args[TSR_ATTENTION_QUERIES_TOTAL] = p.tokens;
  args[TSR_ATTENTION_KEYS_TOTAL] = p.tokens;
  args[TSR_ATTENTION_EARLIER] = args[TSR_ATTENTION_EARLIER_KEYS] = earlier;
  return args;
}

/// Sums go on from whatever is there but for the first call of queries: that
/// takes as long.
static void run(Problem &p, const Call &call, int64_t length, bool backward) {
  const int64_t q = call.queries * length * kRow, k = call.keys * length * kRow;
  const bool isFirst = call.queries == call.keys;
  std::vector<int64_t> args = argsOf(p, call, length, backward || !isFirst);
  float *lse = p.lse.data() + call.queries * length * kHeads;
  void *forwards[] = {p.q.data() + q, p.k.data() + k, p.v.data() + k,
                      p.o.data() + q, lse};
  void *backwards[] = {p.dO.data() + q, p.q.data() + q,  p.k.data() + k,
                       p.v.data() + k,  p.o.data() + q,  lse,
                       p.dQ.data() + q, p.dK.data() + k, p.dV.data() + k};
  std::string error;
  const int status =
      backward ? cpuAttentionBackward(1, backwards, args.data(), &error)
               : cpuAttention(1, forwards, args.data(), &error);
  if (status == 0)
    return;
  std::fprintf(stderr, "ring-bench: %s\n", error.c_str());
  std::exit(1);
}

/// Seconds [rank, step]; backward reads what forward has made.
static std::vector<double> measure(Problem &p, const Deal &deal,
                                   bool backward) {
  std::vector<double> seconds;
  const int64_t length = p.tokens / deal.slices();
  for (int64_t rank = 0; rank < deal.ranks; ++rank)
    for (int64_t step = 0; step < deal.ranks; ++step) {
      const double start = processorSeconds();
      for (const Call &call : deal.calls(rank, step))
        run(p, call, length, backward);
      seconds.push_back(processorSeconds() - start);
    }
  return seconds;
}

static double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + int64_t(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

/// A step ends when its slowest rank does: keys are passed on between steps.
static void print(const Deal &deal, const char *pass,
                  const std::vector<std::vector<double>> &runs) {
  const int64_t n = deal.ranks;
  std::vector<double> ranks(size_t(n), 0), steps(size_t(n), 0);
  for (int64_t rank = 0; rank < n; ++rank)
    for (int64_t step = 0; step < n; ++step) {
      std::vector<double> times;
      for (const std::vector<double> &seconds : runs)
        times.push_back(seconds[size_t(rank * n + step)]);
      const double time = 1e3 * median(times);
      ranks[size_t(rank)] += time;
      steps[size_t(step)] = std::max(steps[size_t(step)], time);
    }
  double path = 0;
  for (double step : steps)
    path += step;
  std::printf("%-9s %-11s", pass, deal.name);
  for (double time : ranks)
    std::printf(" %7.1f", time);
  std::printf("  %7.1f  %7.1f\n", *std::max_element(ranks.begin(), ranks.end()),
              path);
}

int main(int argc, char **argv) {
  const int64_t ranks = argc > 1 ? std::atoll(argv[1]) : 4;
  const int64_t tokens = argc > 2 ? std::atoll(argv[2]) : 4096;
  if (ranks < 2 || tokens < 2 * ranks || tokens % (2 * ranks) != 0) {
    std::fprintf(stderr,
                 "ring-bench: %ld tokens cannot be cut into 2 chunks for each "
                 "of %ld ranks; use 2 ranks or more and a multiple of %ld\n",
                 long(tokens), long(ranks), long(2 * ranks));
    return 1;
  }
  std::printf("causal attention of %ld tokens on %ld ranks, %ld heads of %ld, "
              "f32, 1 thread\nms of processor time, medians of %d: each rank, "
              "the slowest, the slowest of each step together\n",
              long(tokens), long(ranks), long(kHeads), long(kHeadSize), kRuns);
  const Deal deals[] = {{"contiguous", ranks, false}, {"zigzag", ranks, true}};
  Problem problem(tokens);
  for (bool backward : {false, true}) {
    std::vector<std::vector<double>> runs[2];
    for (int turn = 0; turn < kRuns; ++turn)
      for (int deal = 0; deal < 2; ++deal) {
        std::vector<double> forward = measure(problem, deals[deal], false);
        runs[deal].push_back(backward ? measure(problem, deals[deal], true)
                                      : forward);
      }
    for (int deal = 0; deal < 2; ++deal)
      print(deals[deal], backward ? "backward" : "forward", runs[deal]);
  }
}
