//===- BenchFloor.cpp - The least time that a GPT-2 step can take ---------===//
// Usage: bench-floor layers width inner vocabulary tokens f32|bf16 threads
// A worker (Worker.h); a repetition is all weight products of one step. The
// first line holds each shape's rate and the machine's copy bandwidth.
//===----------------------------------------------------------------------===//
#include "bench/Worker.h"
#include "bench/floor/Products.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <omp.h>
#include <sstream>
#include <vector>

using namespace bench;

/// Bytes read and written per second by all threads copying memory; the best of
/// five.
static double copyBandwidth() {
  constexpr size_t bytes = size_t(256) << 20;
  std::vector<char> from(bytes, 1), to(bytes, 2);
  double best = 0;
  for (int i = 0; i < 5; ++i) {
    const double start = omp_get_wtime();
#pragma omp parallel
    {
      const size_t part = bytes / size_t(omp_get_num_threads());
      const size_t begin = part * size_t(omp_get_thread_num());
      std::memcpy(to.data() + begin, from.data() + begin, part);
    }
    best = std::max(best, 2.0 * bytes / (omp_get_wtime() - start));
  }
  return best;
}

static std::string describe(const Step &step) {
  std::ostringstream out;
  out << "{\"copy_bytes_per_second\": " << copyBandwidth() << ", \"shapes\": [";
  const char *separator = "";
  for (const Shape &s : step.shapes()) {
    const Product &p = s.product;
    out << separator << "{\"m\": " << p.m << ", \"n\": " << p.n
        << ", \"k\": " << p.k << ", \"form\": \"" << (p.transposeA ? 't' : 'n')
        << (p.transposeB ? 't' : 'n') << "\", \"count\": " << s.count
        << ", \"method\": \"" << s.method << "\", \"gflops\": "
        << 2e-9 * double(p.m) * double(p.n) * double(p.k) / s.seconds << "}";
    separator = ", ";
  }
  out << "]}";
  return out.str();
}

int main(int argc, char **argv) {
  if (argc != 8) {
    std::cerr << "usage: bench-floor layers width inner vocabulary tokens "
                 "f32|bf16 threads\n";
    return 2;
  }
  omp_set_num_threads(std::atoi(argv[7]));
  const Step step({std::atoll(argv[1]), std::atoll(argv[2]),
                   std::atoll(argv[3]), std::atoll(argv[4]),
                   std::atoll(argv[5]), std::strcmp(argv[6], "bf16") == 0});
  serve(describe(step), [&] { step.run(); });
}
