//===- RoutedProduct.cpp - Matrix products of routed rows -----------------===//

#include "runtime/cpu/Bf16.h"
#include "runtime/cpu/CpuEntries.h"
#include "runtime/cpu/RoutedProblem.h"
#include "runtime/cpu/Workspace.h"
#include "runtime/support/ThreadTeam.h"
#include "tessera/tessera.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <vector>

using namespace tessera;

static int64_t bytesOf(int64_t dtype) {
  return dtype == TSR_DTYPE_F64 ? 8 : dtype == TSR_DTYPE_BF16 ? 2 : 4;
}

/// Returns the type in which products are summed; those of integers are rounded
/// after a scale.
static int64_t sumTypeOf(const RoutedProblem &p) {
  return p.scales && p.dtypeOut == TSR_DTYPE_BF16 ? int64_t(TSR_DTYPE_F32)
                                                  : p.dtypeOut;
}

/// Returns the tokens of each expert, in order.
static std::vector<int64_t> tokensOf(const RoutedProblem &p, int64_t expert) {
  std::vector<int64_t> tokens;
  for (int64_t t = 0; t < p.tokens; ++t)
    if (p.routes(t, expert))
      tokens.push_back(t);
  return tokens;
}

/// Calls body(i) for i < count, in as many parts as the bytes moved are worth.
template <typename Body>
static void forRows(int threads, int64_t count, int64_t bytes,
                    const Body &body) {
  constexpr int64_t kWorthwhile = int64_t(1) << 20;
  const int64_t parts =
      std::clamp<int64_t>(count * bytes / kWorthwhile, 1, threads);
  inParallel(static_cast<int>(parts), [&](int64_t part) {
    for (int64_t i = count * part / parts; i < count * (part + 1) / parts; ++i)
      body(i);
  });
}

namespace {
/// The products of one expert.
struct Expert {
  const RoutedProblem &p;
  int threads;
  int64_t number;

  /// Computes the products of `count` rows without gaps.
  int32_t product(int64_t count, const char *rows, char *made,
                  std::string *error) const;
  int32_t gradWeight(int64_t count, const char *grads, const char *rows,
                     std::string *error) const;

private:
  /// Scales a product of integers: makes `made` from `sums`, which may be the
  /// same buffer.
  void scale(int64_t count, const char *sums, char *made) const;
  int32_t gemm(std::vector<void *> buffers, std::vector<int64_t> args,
               std::string *error) const;
};

/// One expert's rows among those of all tokens.
struct Gathered {
  const RoutedProblem &p;
  int threads;
  int64_t number;
  std::vector<int64_t> tokens;

  int64_t count() const { return static_cast<int64_t>(tokens.size()); }
  void gather(const void *rows, int64_t columns, char *to) const;
  void scatter(const char *from) const;
  int32_t run(std::string *error) const;
};

void *reserve(Workspace &workspace, int64_t bytes) {
  void *memory = workspace.reserve(static_cast<size_t>(bytes) + 1);
  if (!memory)
    throw std::bad_alloc();
  return memory;
}

thread_local Workspace workspaces[3];
} // namespace

void Gathered::gather(const void *rows, int64_t columns, char *to) const {
  const int64_t bytes = columns * bytesOf(p.dtypeIn);
  const char *first =
      static_cast<const char *>(rows) + number * p.tokens * bytes;
  forRows(threads, count(), bytes, [&](int64_t i) {
    std::memcpy(to + i * bytes, first + tokens[i] * bytes, bytes);
  });
}

/// Rows that are not routed become zero.
void Gathered::scatter(const char *from) const {
  const int64_t bytes = p.columns * bytesOf(p.dtypeOut);
  char *first = static_cast<char *>(p.result) + number * p.tokens * bytes;
  forRows(threads, p.tokens, bytes, [&](int64_t t) {
    const auto at = std::lower_bound(tokens.begin(), tokens.end(), t);
    if (at != tokens.end() && *at == t)
      std::memcpy(first + t * bytes, from + (at - tokens.begin()) * bytes,
                  bytes);
    else
      std::memset(first + t * bytes, 0, bytes);
  });
}

int32_t Expert::gemm(std::vector<void *> buffers, std::vector<int64_t> args,
                     std::string *error) const {
  args[TSR_GEMM_DTYPE_AB] = p.dtypeIn;
  args[TSR_GEMM_DTYPE_C] = sumTypeOf(p);
  args[TSR_GEMM_BATCH] = 1;
  buffers.push_back(nullptr);
  return cpuGemm(threads, buffers.data(), args.data(), error);
}

int32_t Expert::product(int64_t m, const char *rows, char *made,
                        std::string *error) const {
  const int64_t n = p.columns, k = p.inner;
  const char *weight = static_cast<const char *>(p.second) +
                       number * n * k * (p.scales ? 1 : bytesOf(p.dtypeIn));
  std::vector<int64_t> args(TSR_GEMM_ARGS);
  args[TSR_GEMM_M] = m;
  args[TSR_GEMM_N] = n;
  args[TSR_GEMM_K] = k;
  args[TSR_GEMM_LDA] = k;
  args[TSR_GEMM_LDB] = p.transposed ? n : k;
  args[TSR_GEMM_LDC] = n;
  args[TSR_GEMM_TRANS_B] = !p.transposed;
  args[TSR_GEMM_INT8_B] = p.scales != nullptr;
  if (m == 0)
    return 0;
  char *sums = made;
  if (sumTypeOf(p) != p.dtypeOut)
    sums = static_cast<char *>(
        reserve(workspaces[2], m * n * bytesOf(sumTypeOf(p))));
  const int32_t status =
      gemm({const_cast<char *>(rows), const_cast<char *>(weight), sums}, args,
           error);
  if (status == 0 && p.scales)
    scale(m, sums, made);
  return status;
}

/// Rounds after the scale.
template <typename Sum, typename Out>
static void scaleRow(const RoutedProblem &p, int64_t expert, const Sum *sums,
                     Out *made) {
  const Sum *scales = static_cast<const Sum *>(p.scales) + expert * p.columns;
  for (int64_t c = 0; c < p.columns; ++c)
    store(sums[c] * scales[c], made[c]);
}

void Expert::scale(int64_t m, const char *sums, char *made) const {
  const int64_t from = p.columns * bytesOf(sumTypeOf(p));
  const int64_t to = p.columns * bytesOf(p.dtypeOut);
  forRows(threads, m, from, [&](int64_t i) {
    const void *row = sums + i * from;
    void *out = made + i * to;
    if (p.dtypeOut == TSR_DTYPE_F64)
      scaleRow(p, number, static_cast<const double *>(row),
               static_cast<double *>(out));
    else if (p.dtypeOut == TSR_DTYPE_BF16)
      scaleRow(p, number, static_cast<const float *>(row),
               static_cast<Bf16 *>(out));
    else
      scaleRow(p, number, static_cast<const float *>(row),
               static_cast<float *>(out));
  });
}

int32_t Expert::gradWeight(int64_t k, const char *grads, const char *rows,
                           std::string *error) const {
  const int64_t m = p.columns, n = p.inner;
  const int64_t bytes = m * n * bytesOf(p.dtypeOut);
  char *result = static_cast<char *>(p.result) + number * bytes;
  if (k == 0) {
    if (!p.continues())
      std::memset(result, 0, bytes);
    return 0;
  }
  std::vector<int64_t> args(TSR_GEMM_ARGS);
  args[TSR_GEMM_M] = m;
  args[TSR_GEMM_N] = n;
  args[TSR_GEMM_K] = k;
  args[TSR_GEMM_LDA] = m;
  args[TSR_GEMM_LDB] = n;
  args[TSR_GEMM_LDC] = n;
  args[TSR_GEMM_TRANS_A] = 1;
  args[TSR_GEMM_ACCUMULATE] = p.continues();
  return gemm({const_cast<char *>(grads), const_cast<char *>(rows), result},
              args, error);
}

int32_t Gathered::run(std::string *error) const {
  const Expert expert{p, threads, number};
  const bool isProduct = p.kind == TSR_ROUTED_PRODUCT;
  const int64_t widths[] = {isProduct ? p.inner : p.columns,
                            isProduct ? p.columns : p.inner};
  const int64_t second = isProduct ? p.dtypeOut : p.dtypeIn;
  char *pieces[] = {
      static_cast<char *>(
          reserve(workspaces[0], count() * widths[0] * bytesOf(p.dtypeIn))),
      static_cast<char *>(
          reserve(workspaces[1], count() * widths[1] * bytesOf(second)))};
  gather(p.first, widths[0], pieces[0]);
  if (!isProduct) {
    gather(p.second, widths[1], pieces[1]);
    return expert.gradWeight(count(), pieces[0], pieces[1], error);
  }
  const int32_t status = expert.product(count(), pieces[0], pieces[1], error);
  scatter(pieces[1]);
  return status;
}

/// An expert's compact rows have no gaps.
static int32_t runCompact(int threads, const RoutedProblem &p,
                          std::string *error) {
  const bool isProduct = p.kind == TSR_ROUTED_PRODUCT;
  const std::vector<int64_t> starts = firstRowsOf(p);
  const int64_t width = isProduct ? p.inner : p.columns;
  for (int64_t x = 0; x < p.experts; ++x) {
    const Expert expert{p, threads, x};
    const int64_t first = starts[static_cast<size_t>(x)];
    const int64_t count = starts[static_cast<size_t>(x) + 1] - first;
    const char *rows =
        static_cast<const char *>(p.first) + first * width * bytesOf(p.dtypeIn);
    const int32_t status =
        isProduct ? expert.product(count, rows,
                                   static_cast<char *>(p.result) +
                                       first * p.columns * bytesOf(p.dtypeOut),
                                   error)
                  : expert.gradWeight(count, rows,
                                      static_cast<const char *>(p.second) +
                                          first * p.inner * bytesOf(p.dtypeIn),
                                      error);
    if (status != 0)
      return status;
  }
  if (isProduct)
    clearRest(p, starts.back());
  return 0;
}

int32_t tessera::routedProduct(int threads, const RoutedProblem &p,
                               std::string *error) {
  if (p.rows > 0)
    return runCompact(threads, p, error);
  for (int64_t x = 0; x < p.experts; ++x) {
    const Gathered expert{p, threads, x, tokensOf(p, x)};
    if (const int32_t status = expert.run(error); status != 0)
      return status;
  }
  return 0;
}
