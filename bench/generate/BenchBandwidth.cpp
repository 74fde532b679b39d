//===- BenchBandwidth.cpp - How fast memory is read -----------------------===//
// Usage: bench-bandwidth threads bytes
// A worker (Worker.h); a repetition reads so many bytes once, each thread its
// part, as a step reads weights.
//===----------------------------------------------------------------------===//
#include "bench/Worker.h"

#include <cstdlib>
#include <omp.h>
#include <vector>

/// Adds a cache line at a time; it is fetched ahead, so that more lines are on
/// their way than the processor would ask for by itself. Beyond the end that
/// does nothing.
static uint64_t sumOf(const uint64_t *from, size_t count) {
  constexpr size_t sums = 8;
  uint64_t sum[sums] = {};
  for (size_t i = 0; i + sums <= count; i += sums) {
    __builtin_prefetch(from + i + 64 * sums);
    for (size_t k = 0; k < sums; ++k)
      sum[k] += from[i + k];
  }
  uint64_t total = 0;
  for (uint64_t one : sum)
    total += one;
  return total;
}

int main(int argc, char **argv) {
  if (argc != 3) {
    std::cerr << "usage: bench-bandwidth threads bytes\n";
    return 2;
  }
  omp_set_num_threads(std::atoi(argv[1]));
  const std::vector<uint64_t> memory(std::strtoull(argv[2], nullptr, 10) / 8,
                                     1);
  uint64_t found = 0;
  bench::serve("{}", [&] {
#pragma omp parallel reduction(+ : found)
    {
      const size_t part = memory.size() / size_t(omp_get_num_threads());
      found += sumOf(memory.data() + part * size_t(omp_get_thread_num()), part);
    }
  });
  return found != 0 ? 0 : 1;
}
