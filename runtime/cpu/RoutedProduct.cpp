//===- RoutedProduct.cpp - Matrix products of routed rows -----------------===//

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

/// The tokens of each expert, in order.
static std::vector<int64_t> tokensOf(const RoutedProblem &p, int64_t expert) {
  std::vector<int64_t> tokens;
  const bool wide = p.dtypeIn == TSR_DTYPE_F64;
  for (int64_t t = 0; t < p.tokens; ++t) {
    const int64_t at = t * p.experts + expert;
    if (wide ? static_cast<const double *>(p.gates)[at] != 0
             : static_cast<const float *>(p.gates)[at] != 0)
      tokens.push_back(t);
  }
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
/// One expert's share of the call.
struct Expert {
  const RoutedProblem &p;
  int threads;
  int64_t number;
  std::vector<int64_t> tokens;

  int64_t count() const { return static_cast<int64_t>(tokens.size()); }
  void gather(const void *rows, int64_t columns, char *to) const;
  void scatter(const char *from) const;
  int32_t product(std::string *error) const;
  int32_t gradWeight(std::string *error) const;
  int32_t gemm(void *const *buffers, std::vector<int64_t> args,
               std::string *error) const;
};

void *reserve(Workspace &workspace, int64_t bytes) {
  void *memory = workspace.reserve(static_cast<size_t>(bytes) + 1);
  if (!memory)
    throw std::bad_alloc();
  return memory;
}

thread_local Workspace workspaces[2];
} // namespace

void Expert::gather(const void *rows, int64_t columns, char *to) const {
  const int64_t bytes = columns * bytesOf(p.dtypeIn);
  const char *first =
      static_cast<const char *>(rows) + number * p.tokens * bytes;
  forRows(threads, count(), bytes, [&](int64_t i) {
    std::memcpy(to + i * bytes, first + tokens[i] * bytes, bytes);
  });
}

/// Rows that are not routed become zero.
void Expert::scatter(const char *from) const {
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

int32_t Expert::gemm(void *const *buffers, std::vector<int64_t> args,
                     std::string *error) const {
  args[TSR_GEMM_DTYPE_AB] = p.dtypeIn;
  args[TSR_GEMM_DTYPE_C] = p.dtypeOut;
  args[TSR_GEMM_BATCH] = 1;
  return cpuGemm(threads, buffers, args.data(), error);
}

int32_t Expert::product(std::string *error) const {
  const int64_t m = count(), n = p.columns, k = p.inner;
  char *rows =
      static_cast<char *>(reserve(workspaces[0], m * k * bytesOf(p.dtypeIn)));
  char *made =
      static_cast<char *>(reserve(workspaces[1], m * n * bytesOf(p.dtypeOut)));
  gather(p.first, k, rows);
  const char *weight =
      static_cast<const char *>(p.second) + number * n * k * bytesOf(p.dtypeIn);
  std::vector<int64_t> args(TSR_GEMM_ARGS);
  args[TSR_GEMM_M] = m;
  args[TSR_GEMM_N] = n;
  args[TSR_GEMM_K] = k;
  args[TSR_GEMM_LDA] = k;
  args[TSR_GEMM_LDB] = p.transposed ? n : k;
  args[TSR_GEMM_LDC] = n;
  args[TSR_GEMM_TRANS_B] = !p.transposed;
  void *buffers[] = {rows, const_cast<char *>(weight), made, nullptr};
  if (m > 0)
    if (int32_t status = gemm(buffers, args, error))
      return status;
  scatter(made);
  return 0;
}

int32_t Expert::gradWeight(std::string *error) const {
  const int64_t k = count(), m = p.columns, n = p.inner;
  const int64_t bytes = m * n * bytesOf(p.dtypeOut);
  char *result = static_cast<char *>(p.result) + number * bytes;
  if (k == 0) {
    std::memset(result, 0, bytes);
    return 0;
  }
  char *grads =
      static_cast<char *>(reserve(workspaces[0], k * m * bytesOf(p.dtypeIn)));
  char *rows =
      static_cast<char *>(reserve(workspaces[1], k * n * bytesOf(p.dtypeIn)));
  gather(p.first, m, grads);
  gather(p.second, n, rows);
  std::vector<int64_t> args(TSR_GEMM_ARGS);
  args[TSR_GEMM_M] = m;
  args[TSR_GEMM_N] = n;
  args[TSR_GEMM_K] = k;
  args[TSR_GEMM_LDA] = m;
  args[TSR_GEMM_LDB] = n;
  args[TSR_GEMM_LDC] = n;
  args[TSR_GEMM_TRANS_A] = 1;
  void *buffers[] = {grads, rows, result, nullptr};
  return gemm(buffers, args, error);
}

int32_t tessera::routedProduct(int threads, const RoutedProblem &p,
                               std::string *error) {
  for (int64_t x = 0; x < p.experts; ++x) {
    const Expert expert{p, threads, x, tokensOf(p, x)};
    const int32_t status = p.kind == TSR_ROUTED_PRODUCT
                               ? expert.product(error)
                               : expert.gradWeight(error);
    if (status != 0)
      return status;
  }
  return 0;
}
