//===- GpuProducts.cpp - what choosing among algorithms can gain ----------===//
// Usage: gpu-products
// For the matrix products of a GPT-2 layer and head of four widths: the TFLOP/s
// of the algorithm that cuBLASLt names first, which is what a step runs, of the
// fastest of its first sixteen, and which that is. Prints JSON lines.
//===----------------------------------------------------------------------===//
#include "bench/gpu/DeviceTime.h"
#include "bench/gpu/RandomNumbers.h"
#include "runtime/cuda/products/MatrixProducts.h"

#include <cstdio>
#include <vector>

using namespace tessera;
using namespace tessera::cuda;

namespace {
constexpr int repetitions = 5, mostAlgorithms = 16;
constexpr int64_t largest = int64_t(32768) * 50304 * 2;

/// In row-major terms: C[m, n] = op(A) op(B).
struct Shape {
  const char *name;
  int64_t m, n, k;
  bool transA, transB;
};

void checkBlas(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS)
    fail(TSR_INTERNAL, "cublasLt: ", cublasLtGetStatusString(status));
}

/// A product as the library is told of it. Columns of the library are our rows,
/// so the operands are swapped.
class Description {
public:
  explicit Description(const Shape &s) {
    checkBlas(
        cublasLtMatmulDescCreate(&product, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    set(CUBLASLT_MATMUL_DESC_TRANSA, s.transB);
    set(CUBLASLT_MATMUL_DESC_TRANSB, s.transA);
    describe(first, s.transB ? s.k : s.n, s.transB ? s.n : s.k);
    describe(second, s.transA ? s.m : s.k, s.transA ? s.k : s.m);
    describe(result, s.n, s.m);
  }
  ~Description() {
    for (cublasLtMatrixLayout_t layout : {first, second, result})
      cublasLtMatrixLayoutDestroy(layout);
    cublasLtMatmulDescDestroy(product);
  }

  cublasLtMatmulDesc_t product = nullptr;
  cublasLtMatrixLayout_t first = nullptr, second = nullptr, result = nullptr;

private:
  void set(cublasLtMatmulDescAttributes_t name, bool transposed) {
    cublasOperation_t value = transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    checkBlas(
        cublasLtMatmulDescSetAttribute(product, name, &value, sizeof value));
  }
  static void describe(cublasLtMatrixLayout_t &layout, int64_t rows,
                       int64_t columns) {
    checkBlas(
        cublasLtMatrixLayoutCreate(&layout, CUDA_R_16BF, rows, columns, rows));
  }
};

class Bench {
public:
  Bench() {
    for (DeviceMemory *each : {&a, &b, &c}) {
      each->allocate(largest, "a matrix");
      fillRandomly(*each, stream.get());
    }
    workspace.allocate(productWorkspaceBytes, "workspace");
    checkBlas(cublasLtCreate(&handle));
    checkBlas(cublasLtMatmulPreferenceCreate(&preference));
    uint64_t bytes = productWorkspaceBytes;
    checkBlas(cublasLtMatmulPreferenceSetAttribute(
        preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes,
        sizeof bytes));
  }

  void measure(const Shape &s) {
    const Description how(s);
    cublasLtMatmulHeuristicResult_t found[mostAlgorithms];
    int count = 0;
    checkBlas(cublasLtMatmulAlgoGetHeuristic(
        handle, how.product, how.first, how.second, how.result, how.result,
        preference, mostAlgorithms, found, &count));
    std::vector<double> seconds;
    for (int i = 0; i < count; ++i)
      seconds.push_back(secondsOf(stream.get(), repetitions,
                                  [&] { multiply(how, found[i].algo); }));
    if (seconds.empty())
      fail(TSR_UNSUPPORTED, "cublasLt has no algorithm for '", s.name, "'");
    auto least = std::min_element(seconds.begin(), seconds.end());
    double terms = 2.0 * s.m * s.n * s.k * 1e-12;
    std::printf("{\"product\": \"%s\", \"m\": %lld, \"n\": %lld, \"k\": %lld, "
                "\"first\": %.1f, \"fastest\": %.1f, \"which\": %d}\n",
                s.name, (long long)s.m, (long long)s.n, (long long)s.k,
                terms / seconds[0], terms / *least,
                int(least - seconds.begin()));
    std::fflush(stdout);
  }

private:
  void multiply(const Description &how, const cublasLtMatmulAlgo_t &algorithm) {
    const float one = 1, zero = 0;
    checkBlas(cublasLtMatmul(handle, how.product, &one, b.data(), how.first,
                             a.data(), how.second, &zero, c.data(), how.result,
                             c.data(), how.result, &algorithm, workspace.data(),
                             productWorkspaceBytes, stream.get()));
  }

  Stream stream;
  DeviceMemory a, b, c, workspace;
  cublasLtHandle_t handle = nullptr;
  cublasLtMatmulPreference_t preference = nullptr;
};

void measureLayer(Bench &bench, int64_t tokens, int64_t width) {
  struct {
    const char *name;
    int64_t from, to;
  } linears[] = {{"qkv", width, 3 * width},
                 {"proj", width, width},
                 {"fc", width, 4 * width},
                 {"proj2", 4 * width, width}};
  for (const auto &l : linears) {
    bench.measure({l.name, tokens, l.to, l.from, false, false});
    bench.measure({l.name, tokens, l.from, l.to, false, true});
    bench.measure({l.name, l.from, l.to, tokens, true, false});
  }
  for (int64_t vocabulary : {int64_t(50256), int64_t(50304)}) {
    bench.measure({"head", tokens, vocabulary, width, false, true});
    bench.measure({"head", tokens, width, vocabulary, false, false});
    bench.measure({"head", vocabulary, width, tokens, true, false});
  }
}
} // namespace

int main() try {
  Bench bench;
  measureLayer(bench, 32 * 1024, 768);
  measureLayer(bench, 16 * 1024, 1024);
  measureLayer(bench, 12 * 1024, 1280);
  measureLayer(bench, 8 * 1024, 1600);
  // These are the rest of an odd vocabulary.
  bench.measure({"rest", 32 * 1024, 1, 768, false, true});
  bench.measure({"rest", 32 * 1024, 768, 1, false, false});
  bench.measure({"rest", 1, 768, 32 * 1024, true, false});
  return 0;
} catch (const Error &error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}
