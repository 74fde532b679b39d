//===- GpuExperts.cpp - products of routed rows on this GPU ---------------===//
// Prints JSON for the feed-forward of a Mixtral 8x7B, 8192 tokens of which each
// goes to 2 of 8 experts, in bf16, on compact rows: the rate of each product,
// counting of rows included, and of moving rows to experts; medians.
//===----------------------------------------------------------------------===//
#include "bench/gpu/DeviceTime.h"
#include "bench/gpu/RandomNumbers.h"
#include "runtime/cuda/DeviceMemory.h"
#include "runtime/cuda/experts/RoutedKernels.h"
#include "tessera/abi.h"

#include <cstdio>
#include <vector>

using namespace tessera;
using namespace tessera::cuda;

namespace {
constexpr int64_t tokens = 8192, experts = 8, chosen = 2, hidden = 4096,
                  wide = 14336;
constexpr int64_t routedRows = tokens * chosen;
constexpr int repetitions = 10;

struct Bench {
  Stream stream;
  DeviceMemory narrowRows, wideRows, weights, gradient, gates, workspace;

  Bench() {
    narrowRows.allocate(routedRows * hidden * 2, "rows");
    wideRows.allocate(routedRows * wide * 2, "rows");
    weights.allocate(experts * hidden * wide * 2, "weights");
    gradient.allocate(experts * hidden * wide * 4, "a gradient");
    gates.allocate(tokens * experts * 4, "gates");
    for (DeviceMemory *each : {&narrowRows, &wideRows, &weights})
      fillRandomly(*each, stream.get());
    std::vector<float> routes(tokens * experts);
    for (int64_t t = 0; t < tokens; ++t)
      for (int64_t i = 0; i < chosen; ++i)
        routes[t * experts + (t + i * (1 + t % (experts - 1))) % experts] = 0.5;
    check(cudaMemcpyAsync(gates.data(), routes.data(), gates.size(),
                          cudaMemcpyHostToDevice, stream.get()),
          "filling");
    check(cudaStreamSynchronize(stream.get()), "filling");
  }

  double seconds(RoutedProblem p) {
    p.tokens = tokens;
    p.experts = experts;
    p.k = chosen;
    p.rows = routedRows;
    p.dtypeIn = TSR_DTYPE_BF16;
    p.gates = gates.data();
    if (std::string why = checkRouted(p); !why.empty())
      fail(TSR_UNSUPPORTED, why);
    if (int64_t(routedWorkspace(p)) > workspace.size())
      workspace.allocate(int64_t(routedWorkspace(p)), "workspace");
    return secondsOf(stream.get(), repetitions, [&] {
      check(routed(p, workspace.data(), stream.get()), "routed");
    });
  }

  /// Measures a product in TFLOP/s over routed rows.
  double product(bool transposed) {
    RoutedProblem p{};
    p.kind = TSR_ROUTED_PRODUCT;
    p.dtypeOut = TSR_DTYPE_BF16;
    p.transposed = transposed;
    p.columns = transposed ? hidden : wide;
    p.inner = transposed ? wide : hidden;
    p.first = transposed ? wideRows.data() : narrowRows.data();
    p.second = weights.data();
    p.result = transposed ? narrowRows.data() : wideRows.data();
    return rate(seconds(p));
  }
  double gradWeight() {
    RoutedProblem p{};
    p.kind = TSR_ROUTED_PRODUCT_GRAD_WEIGHT;
    p.dtypeOut = TSR_DTYPE_F32;
    p.columns = wide;
    p.inner = hidden;
    p.first = wideRows.data();
    p.second = narrowRows.data();
    p.result = gradient.data();
    return rate(seconds(p));
  }
  static double rate(double seconds) {
    return 2.0 * routedRows * hidden * wide / seconds * 1e-12;
  }

  /// GB/s of the rows written and read.
  double dispatch() {
    RoutedProblem p{};
    p.kind = TSR_ROUTED_DISPATCH;
    p.dtypeOut = TSR_DTYPE_BF16;
    p.columns = hidden;
    p.first = wideRows.data();
    p.result = narrowRows.data();
    return 2.0 * 2 * routedRows * hidden / seconds(p) * 1e-9;
  }
};
} // namespace

int main() try {
  Bench bench;
  std::printf("{\"product_tflops\": %.1f, ", bench.product(false));
  std::printf("\"transposed_product_tflops\": %.1f, ", bench.product(true));
  std::printf("\"weight_gradient_tflops\": %.1f, ", bench.gradWeight());
  std::printf("\"dispatch_gbytes_per_second\": %.1f}\n", bench.dispatch());
  return 0;
} catch (const Error &error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}
