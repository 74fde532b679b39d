//===- GpuLimits.cpp - what this GPU does at its best ---------------------===//
// Prints JSON: the rate of one large bf16 matrix product through the device's
// own class, and of copying memory; medians. What step times are compared with.
//===----------------------------------------------------------------------===//
#include "bench/gpu/DeviceTime.h"
#include "bench/gpu/RandomNumbers.h"
#include "runtime/cuda/DeviceMemory.h"
#include "runtime/cuda/products/MatrixProducts.h"
#include "tessera/abi.h"

#include <cstdio>

using namespace tessera;
using namespace tessera::cuda;

int main() try {
  constexpr int repetitions = 20;
  constexpr int64_t n = 8192, bytes = int64_t(1) << 30;
  Stream stream;
  DeviceMemory a, b, c, workspace, from, to;
  for (DeviceMemory *matrix : {&a, &b, &c})
    matrix->allocate(n * n * 2, "a matrix");
  workspace.allocate(productWorkspaceBytes, "workspace");
  from.allocate(bytes, "a copy");
  to.allocate(bytes, "a copy");
  fillRandomly(a, stream.get());
  fillRandomly(b, stream.get());
  GemmProblem problem{};
  problem.m = problem.n = problem.k = n;
  problem.lda = problem.ldb = problem.ldc = n;
  problem.dtypeAB = problem.dtypeC = TSR_DTYPE_BF16;
  problem.batch = 1;
  problem.a = a.data();
  problem.b = b.data();
  problem.c = c.data();
  MatrixProducts products;
  double product = secondsOf(stream.get(), repetitions, [&] {
    products.run(problem, workspace.data(), stream.get());
  });
  double copy = secondsOf(stream.get(), repetitions, [&] {
    check(cudaMemcpyAsync(to.data(), from.data(), bytes,
                          cudaMemcpyDeviceToDevice, stream.get()),
          "copying");
  });
  std::printf("{\"matmul_tflops\": %.1f, \"copy_gbytes_per_second\": %.1f}\n",
              2.0 * n * n * n / product * 1e-12, 2.0 * bytes / copy * 1e-9);
  return 0;
} catch (const Error &error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}
