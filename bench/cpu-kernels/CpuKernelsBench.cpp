//===- CpuKernelsBench.cpp - Rates of the CPU compute entries -------------===//
// Usage: cpu-kernels-bench [threads] [gemm|few|attention|other]
// GFLOP/s, of products of few rows GB/s, medians. Every row is measured in
// turns with its neighbours in the same run, because the machine's rate drifts.

#include "runtime/cpu/Bf16.h"
#include "runtime/cpu/CpuEntries.h"

#include "runtime/cpu/CpuKernels.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <memory>
#include <omp.h>
#include <oneapi/dnnl/dnnl.h>
#include <random>
#include <string>
#include <vector>

using namespace tessera;

namespace {
using Clock = std::chrono::steady_clock;

struct Free {
  void operator()(void *p) const { std::free(p); }
};
using Memory = std::unique_ptr<unsigned char, Free>;

struct Candidate {
  const char *name;
  std::function<void()> run;
};
} // namespace

static int threads = 2;
static int failures = 0;

/// The matrices of products of a GPT-2 layer.
struct Layer {
  const char *name;
  int64_t k, n;
};
static const Layer layers[] = {{"qkv", 768, 2304},
                               {"proj", 768, 768},
                               {"fc", 768, 3072},
                               {"fc2", 3072, 768}};

/// Returns memory of `count` elements with random contents of about N(0, 1).
static Memory filled(int64_t count, int64_t dtype) {
  const int64_t bytes = count * (dtype == TSR_DTYPE_BF16 ? 2 : 4);
  Memory m(static_cast<unsigned char *>(
      std::aligned_alloc(4096, size_t(bytes + 8191) / 4096 * 4096)));
  std::mt19937 random(1);
  for (int64_t i = 0; i < count; ++i) {
    const float x = float(random() % 2001) / 1000.0f - 1.0f;
    if (dtype == TSR_DTYPE_BF16)
      reinterpret_cast<Bf16 *>(m.get())[i] = floatToBf16(x);
    else
      std::memcpy(m.get() + 4 * i, &x, 4);
  }
  return m;
}

static void check(int32_t status, const std::string &error) {
  if (status == 0)
    return;
  std::fprintf(stderr, "failed: %s\n", error.c_str());
  ++failures;
}

/// Returns the thread's processor time with one thread, which other programs on
/// the machine disturb less; else wall time.
static double now() {
  timespec t;
  clock_gettime(threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &t);
  return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

/// Median seconds of each candidate, in turns, for about half a second each.
static std::vector<double> medians(const std::vector<Candidate> &candidates) {
  std::vector<std::vector<double>> times(candidates.size());
  for (const Candidate &c : candidates)
    c.run();
  const auto start = Clock::now();
  const auto limit =
      std::chrono::milliseconds(400) * int64_t(candidates.size());
  for (int round = 0;
       round < 5 || (round < 100 && Clock::now() - start < limit); ++round)
    for (size_t i = 0; i < candidates.size(); ++i) {
      const double before = now();
      candidates[i].run();
      times[i].push_back(now() - before);
    }
  std::vector<double> result;
  for (std::vector<double> &t : times) {
    std::nth_element(t.begin(), t.begin() + int64_t(t.size() / 2), t.end());
    result.push_back(t[t.size() / 2]);
  }
  return result;
}

static void printRow(const std::string &title, double flops,
                     const std::vector<Candidate> &candidates) {
  const std::vector<double> seconds = medians(candidates);
  std::printf("%-40s", title.c_str());
  for (size_t i = 0; i < candidates.size(); ++i)
    std::printf("  %s %5.0f", candidates[i].name, flops / seconds[i] * 1e-9);
  std::printf("\n");
  std::fflush(stdout);
}

// ------------------------------------------------------------------ gemm ---

namespace {
struct Product {
  const char *form;
  int64_t m, n, k;
  bool transA, transB;
};
} // namespace

static void sgemm(const Product &x, const void *a, const void *b, void *c) {
  omp_set_num_threads(threads);
  dnnl_sgemm(x.transA ? 'T' : 'N', x.transB ? 'T' : 'N', x.m, x.n, x.k, 1,
             static_cast<const float *>(a), x.transA ? x.m : x.k,
             static_cast<const float *>(b), x.transB ? x.k : x.n, 0,
             static_cast<float *>(c), x.n);
}

static GemmProblem problemOf(const Product &x, int64_t ab, int64_t out,
                             const void *a, const void *b, void *c) {
  return {x.m,
          x.n,
          x.k,
          x.transA ? x.m : x.k,
          x.transB ? x.k : x.n,
          x.n,
          x.transA,
          x.transB,
          false,
          ab,
          out,
          1,
          0,
          0,
          0,
          a,
          b,
          c,
          nullptr};
}

static void benchProduct(const char *layer, const Product &x) {
  const Memory a = filled(x.m * x.k, TSR_DTYPE_F32);
  const Memory b = filled(x.k * x.n, TSR_DTYPE_F32);
  const Memory c = filled(x.m * x.n, TSR_DTYPE_F32);
  const Memory ha = filled(x.m * x.k, TSR_DTYPE_BF16);
  const Memory hb = filled(x.k * x.n, TSR_DTYPE_BF16);
  const auto call = [&](auto gemm, int64_t ab, int64_t out) {
    const bool half = ab == TSR_DTYPE_BF16;
    const GemmProblem p = problemOf(x, ab, out, half ? ha.get() : a.get(),
                                    half ? hb.get() : b.get(), c.get());
    return [=] {
      std::string error;
      check(gemm(threads, p, &error), error);
    };
  };
  char title[80];
  std::snprintf(title, sizeof(title), "%-6s %-4s %5ld x %5ld x %5ld", layer,
                x.form, long(x.m), long(x.n), long(x.k));
  const int64_t f32 = TSR_DTYPE_F32, bf16 = TSR_DTYPE_BF16;
  std::vector<Candidate> rows = {
      {"f32: sgemm", [&] { sgemm(x, a.get(), b.get(), c.get()); }},
      {"library", call(libraryGemm, f32, f32)},
      {"blocked", call(blockedGemm, f32, f32)},
      {"| bf16->f32: blocked", call(blockedGemm, bf16, f32)},
      {"| bf16->bf16: blocked", call(blockedGemm, bf16, bf16)}};
  if (__builtin_cpu_supports("avx512f")) {
    rows.push_back({"library", call(libraryGemm, bf16, bf16)});
    rows.push_back({"->f32 library", call(libraryGemm, bf16, f32)});
  }
  printRow(title, 2.0 * double(x.m) * double(x.n) * double(x.k), rows);
}

static void benchGemm() {
  for (int64_t tokens : {256, 1024}) {
    for (const Layer &l : layers) {
      benchProduct(l.name, {"fwd", tokens, l.n, l.k, false, false});
      benchProduct(l.name, {"dX", tokens, l.k, l.n, false, true});
      benchProduct(l.name, {"dW", l.k, l.n, tokens, true, false});
    }
    for (int64_t vocabulary : {50257, 50304}) {
      benchProduct("head", {"fwd", tokens, vocabulary, 768, false, true});
      benchProduct("head", {"dX", tokens, 768, vocabulary, false, false});
      benchProduct("head", {"dW", vocabulary, 768, tokens, true, false});
    }
  }
}

// -------------------------------------------------------------- few rows ---

/// GB/s at which the matrices of twelve layers are read, each once, as when a
/// token is generated.
static double rateOfFewRows(int64_t m, bool transB, int64_t bytes) {
  constexpr int64_t depth = 12, widest = 3072;
  const bool half = bytes < 4;
  int64_t elements = 0;
  for (const Layer &l : layers)
    elements += depth * l.k * l.n;
  const Memory weights = filled(elements * bytes / 4, TSR_DTYPE_F32);
  const int64_t type = half ? TSR_DTYPE_BF16 : TSR_DTYPE_F32;
  const Memory a = filled(kFewRows * widest, type);
  const Memory c = filled(kFewRows * widest, TSR_DTYPE_F32);
  std::string error;
  const auto token = [&] {
    const unsigned char *b = weights.get();
    for (int64_t i = 0; i < depth; ++i)
      for (const Layer &l : layers) {
        GemmProblem p = problemOf({"", m, l.n, l.k, false, transB}, type,
                                  TSR_DTYPE_F32, a.get(), b, c.get());
        p.int8B = bytes == 1;
        fewRowsGemm(threads, p, &error);
        b += l.k * l.n * bytes;
      }
  };
  return double(elements * bytes) * 1e-9 / medians({{"", token}})[0];
}

static void benchFewRows() {
  std::printf("B read once, GB/s\n");
  for (bool transB : {false, true})
    for (int64_t m : {1, 2, 4, 8}) {
      std::printf("%ld rows, B [%s]:  f32 %5.1f", long(m),
                  transB ? "n, k" : "k, n", rateOfFewRows(m, transB, 4));
      std::printf("  bf16 %5.1f", rateOfFewRows(m, transB, 2));
      std::printf("  int8 %5.1f\n", rateOfFewRows(m, transB, 1));
      std::fflush(stdout);
    }
}

// ------------------------------------------------------------- attention ---

static int64_t bitsOf(double value) {
  int64_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

/// GPT-2's layout: q, k, v are slices of one buffer of rows [3, heads, d].
static void benchAttention(int64_t batch, int64_t seq, int64_t heads,
                           int64_t dims, double dropout, int64_t dtype) {
  const int64_t width = heads * dims, row = 3 * width;
  const int64_t args[TSR_ATTENTION_ARGS] = {
      batch, heads,
      heads, seq,
      seq,   dims,
      row,   row,
      row,   width,
      row,   row,
      row,   width,
      1,     bitsOf(1 / std::sqrt(double(dims))),
      dtype, bitsOf(dropout),
      1,     2,
      3,     0,
      0,     heads,
      0,     seq};
  const int64_t element = dtype == TSR_DTYPE_BF16 ? 2 : 4;
  const Memory qkv = filled(batch * seq * row, dtype);
  const Memory dQkv = filled(batch * seq * row, dtype);
  const Memory o = filled(batch * seq * width, dtype);
  const Memory dO = filled(batch * seq * width, dtype);
  const Memory lse = filled(batch * heads * seq, TSR_DTYPE_F32);
  unsigned char *q = qkv.get(), *k = q + element * width,
                *v = k + element * width;
  unsigned char *dQ = dQkv.get(), *dK = dQ + element * width,
                *dV = dK + element * width;
  const auto forward = [&] {
    void *buffers[] = {q, k, v, o.get(), lse.get()};
    std::string error;
    check(cpuAttention(threads, buffers, args, &error), error);
  };
  const auto backward = [&] {
    void *buffers[] = {dO.get(), q, k, v, o.get(), lse.get(), dQ, dK, dV};
    std::string error;
    check(cpuAttentionBackward(threads, buffers, args, &error), error);
  };
  forward();
  const Product peer{"", 1024, 768, 768, false, false};
  const Memory a = filled(peer.m * peer.k, TSR_DTYPE_F32);
  const Memory b = filled(peer.k * peer.n, TSR_DTYPE_F32);
  const Memory c = filled(peer.m * peer.n, TSR_DTYPE_F32);
  // Counted: products with visible keys only, 2 forward, 5 backward.
  const double pairs =
      double(batch * heads) * double(seq) * double(seq + 1) / 2;
  const double product = 2.0 * pairs * double(dims);
  const std::vector<double> t =
      medians({{"forward", forward},
               {"backward", backward},
               {"sgemm", [&] { sgemm(peer, a.get(), b.get(), c.get()); }}});
  const double rate = 2.0 * 1024 * 768 * 768 / t[2] * 1e-9;
  const double f = 2 * product / t[0] * 1e-9, g = 5 * product / t[1] * 1e-9;
  std::printf(
      "%-4s B %ld T %4ld H %ld d %3ld p %.1f: forward %4.0f (%3.0f %% of "
      "sgemm, %6.2f ms), backward %4.0f (%3.0f %%, %6.2f ms), sgemm "
      "%4.0f\n",
      dtype == TSR_DTYPE_BF16 ? "bf16" : "f32", long(batch), long(seq),
      long(heads), long(dims), dropout, f, 100 * f / rate, t[0] * 1e3, g,
      100 * g / rate, t[1] * 1e3, rate);
  std::fflush(stdout);
}

static void benchAttentions() {
  for (int64_t dtype : {TSR_DTYPE_F32, TSR_DTYPE_BF16}) {
    benchAttention(4, 64, 12, 64, 0, dtype);
    benchAttention(4, 256, 12, 64, 0, dtype);
    benchAttention(1, 1024, 12, 64, 0, dtype);
    benchAttention(1, 1024, 12, 64, 0.1, dtype);
    benchAttention(1, 1024, 8, 128, 0, dtype);
    benchAttention(1, 1000, 12, 80, 0, dtype);
  }
}

static void benchScatter() {
  const int64_t rows = 1024, columns = 768, vocabulary = 50257;
  const Memory source = filled(rows * columns, TSR_DTYPE_F32);
  const Memory table = filled(vocabulary * columns, TSR_DTYPE_F32);
  std::vector<int32_t> ids;
  for (int64_t r = 0; r < rows; ++r)
    ids.push_back(int32_t(r * 7919 % vocabulary));
  const int64_t args[] = {rows,       columns,       0,
                          vocabulary, TSR_DTYPE_F32, TSR_DTYPE_F32};
  void *buffers[] = {source.get(), ids.data(), table.get()};
  const std::vector<double> t =
      medians({{"scatter_add", [&] {
                  std::string error;
                  check(cpuScatterAdd(threads, buffers, args, &error), error);
                }}});
  std::printf("scatter_add 1024 x 768: %.3f ms\n", t[0] * 1e3);
}

int main(int argc, char **argv) {
  threads = argc > 1 ? std::atoi(argv[1]) : 2;
  const std::string what = argc > 2 ? argv[2] : "";
  std::printf("%d threads, %s kernels, GFLOP/s (medians)\n", threads,
              cpuKernels().name);
  if (what.empty() || what == "attention")
    benchAttentions();
  if (what.empty() || what == "other")
    benchScatter();
  if (what.empty() || what == "gemm")
    benchGemm();
  if (what.empty() || what == "few")
    benchFewRows();
  return failures > 0;
}
