//===- GpuProducts.cpp - what choosing among algorithms can gain ----------===//
// Usage: gpu-products
// For the matrix products of a GPT-2 layer and head of four widths: the TFLOP/s
// of the algorithm that cuBLASLt names first, which is what a step runs, of the
// fastest of its first sixteen, and which that is. Prints JSON lines.
//===----------------------------------------------------------------------===//
#include "bench/gpu/DeviceTime.h"
#include "runtime/cuda/DeviceMemory.h"
#include "runtime/cuda/products/MatrixProducts.h"

#include <cstdio>
#include <random>
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

struct Bench {
  Stream stream;
  DeviceMemory a, b, c, workspace;
  cublasLtHandle_t handle = nullptr;

  Bench() {
    std::vector<uint16_t> numbers(1 << 24);
    std::mt19937 random(1);
    for (uint16_t &number : numbers)
      number = uint16_t(0x3F80 | (random() & 0x807F));
    for (DeviceMemory *each : {&a, &b, &c}) {
      each->allocate(largest, "a matrix");
      for (int64_t at = 0; at < largest; at += int64_t(numbers.size()) * 2)
        check(cudaMemcpy(each->data() + at, numbers.data(),
                         std::min<int64_t>(numbers.size() * 2, largest - at),
                         cudaMemcpyHostToDevice),
              "filling");
    }
    workspace.allocate(productWorkspaceBytes, "workspace");
    checkBlas(cublasLtCreate(&handle));
  }

  void measure(const Shape &s) {
    cublasLtMatmulDesc_t product;
    checkBlas(
        cublasLtMatmulDescCreate(&product, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    // Swapped: columns of the library are our rows.
    auto operation = [&](cublasLtMatmulDescAttributes_t name, bool transposed) {
      cublasOperation_t value = transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
      checkBlas(
          cublasLtMatmulDescSetAttribute(product, name, &value, sizeof value));
    };
    operation(CUBLASLT_MATMUL_DESC_TRANSA, s.transB);
    operation(CUBLASLT_MATMUL_DESC_TRANSB, s.transA);
    cublasLtMatrixLayout_t first, second, result;
    auto layout = [](cublasLtMatrixLayout_t *made, int64_t rows,
                     int64_t columns) {
      checkBlas(
          cublasLtMatrixLayoutCreate(made, CUDA_R_16BF, rows, columns, rows));
    };
    layout(&first, s.transB ? s.k : s.n, s.transB ? s.n : s.k);
    layout(&second, s.transA ? s.m : s.k, s.transA ? s.k : s.m);
    layout(&result, s.n, s.m);
    cublasLtMatmulPreference_t preference;
    checkBlas(cublasLtMatmulPreferenceCreate(&preference));
    uint64_t bytes = productWorkspaceBytes;
    checkBlas(cublasLtMatmulPreferenceSetAttribute(
        preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes,
        sizeof bytes));
    cublasLtMatmulHeuristicResult_t found[mostAlgorithms];
    int count = 0;
    checkBlas(cublasLtMatmulAlgoGetHeuristic(handle, product, first, second,
                                             result, result, preference,
                                             mostAlgorithms, found, &count));
    std::vector<double> seconds;
    for (int i = 0; i < count; ++i)
      seconds.push_back(secondsOf(stream.get(), repetitions, [&] {
        const float one = 1, zero = 0;
        checkBlas(cublasLtMatmul(handle, product, &one, b.data(), first,
                                 a.data(), second, &zero, c.data(), result,
                                 c.data(), result, &found[i].algo,
                                 workspace.data(), bytes, stream.get()));
      }));
    auto least = std::min_element(seconds.begin(), seconds.end());
    double terms = 2.0 * s.m * s.n * s.k * 1e-12;
    std::printf("{\"product\": \"%s\", \"m\": %lld, \"n\": %lld, \"k\": %lld, "
                "\"first\": %.1f, \"fastest\": %.1f, \"which\": %d}\n",
                s.name, (long long)s.m, (long long)s.n, (long long)s.k,
                terms / seconds[0], terms / *least,
                int(least - seconds.begin()));
    std::fflush(stdout);
  }
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
  // What is left of an odd vocabulary.
  bench.measure({"rest", 32 * 1024, 1, 768, false, true});
  bench.measure({"rest", 32 * 1024, 768, 1, false, false});
  bench.measure({"rest", 1, 768, 32 * 1024, true, false});
  return 0;
} catch (const Error &error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}
