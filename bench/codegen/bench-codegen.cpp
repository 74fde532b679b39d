//===- bench-codegen.cpp - rates of generated kernels against memcpy ------===//
// GPT-2 124M shapes, 1024 tokens, one thread. A rate counts every byte that a
// kernel must read or write once; memcpy counts both sides too. Each kernel
// walks through enough copies of its data to leave the caches, and is timed
// in turns with memcpy of the same footprint; medians.
//===----------------------------------------------------------------------===//

#include "test/Codegen/Kernels/KernelHarness.h"
#include <algorithm>
#include <functional>
#include <time.h>

namespace {

constexpr int64_t kTokens = 1024;
size_t footprint = size_t(768) << 20;

/// Measures processor time of this thread: other programs on the machine do not
/// count.
double now() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec + 1e-9 * time.tv_nsec;
}

double seconds(const std::function<void()> &work) {
  double start = now();
  work();
  return now() - start;
}

/// memcpy writes past the caches where the data is large; kernels do not, as
/// the next op reads their result. So this is what they are held against.
void plainCopy(float *to, const float *from, size_t count) {
  for (size_t i = 0; i < count; i += 64) {
    for (size_t j = 0; j < 64; ++j)
      to[i + j] = from[i + j];
    asm volatile("" ::: "memory");
  }
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2,
                   values.end());
  return values[values.size() / 2];
}

/// One buffer of a kernel: a plane is walked through, the others stay.
struct Operand {
  size_t bytes;
  bool isStreamed = true;
};

struct Bench {
  const char *name, *file, *kernel;
  int64_t rows, cols, count;
  std::vector<Operand> operands;
  /// Operand i of `sharedWith` is the same memory as the result at that place.
  std::map<size_t, size_t> sharedWith;
};

char *arena(size_t bytes) {
  static std::vector<char> memory;
  if (memory.size() < bytes)
    memory.resize(bytes, 0);
  return memory.data();
}

void run(const Bench &bench) {
  auto kernels = LoadedKernels::compile(
      instantiate(bench.file, {{"R", std::to_string(bench.rows)},
                               {"C", std::to_string(bench.cols)},
                               {"T", "f32"}}));
  tsr_abi_kernel kernel = kernels[bench.kernel];
  size_t set = 0, traffic = 0;
  for (size_t i = 0; i < bench.operands.size(); ++i) {
    bool isAlias = bench.sharedWith.count(i);
    size_t padded = (bench.operands[i].bytes + 4095) / 4096 * 4096 + 192;
    set += isAlias ? 0 : (padded + 63) / 64 * 64;
    traffic += bench.operands[i].bytes;
  }
  size_t copies = std::max<size_t>(1, footprint / set);
  char *memory = arena(footprint + set);
  auto *floats = reinterpret_cast<float *>(memory);
  for (size_t i = 0; i < (copies * set) / 4; ++i)
    floats[i] = float((i * 2654435761u) >> 8 & 0xFFFF) / 32768.0f - 0.5f;
  auto work = [&] {
    for (size_t copy = 0; copy < copies; ++copy) {
      char *next = memory + copy * set;
      std::vector<void *> buffers;
      for (size_t i = 0; i < bench.operands.size(); ++i) {
        if (bench.sharedWith.count(i)) {
          buffers.push_back(buffers[bench.sharedWith.at(i)]);
          continue;
        }
        buffers.push_back(next);
        size_t padded = (bench.operands[i].bytes + 4095) / 4096 * 4096 + 192;
        next += (padded + 63) / 64 * 64;
      }
      int64_t scalars[1] = {0};
      kernel(buffers.data(), scalars, 0, bench.count);
    }
  };
  size_t half = copies * set / 2 / 256 * 256;
  auto copy = [&] { std::memcpy(memory + half, memory, half); };
  auto plain = [&] { plainCopy(floats + half / 4, floats, half / 4); };
  work();
  copy();
  std::vector<double> rates, copies_, plains, shares;
  size_t repeats = std::max<size_t>(1, (size_t(256) << 20) / (copies * set));
  for (int i = 0; i < 9; ++i) {
    auto rateOf = [&](size_t bytes, const std::function<void()> &what) {
      return repeats * bytes * 1e-9 / seconds([&] {
               for (size_t r = 0; r < repeats; ++r)
                 what();
             });
    };
    rates.push_back(rateOf(copies * traffic, work));
    plains.push_back(rateOf(2 * half, plain));
    copies_.push_back(rateOf(2 * half, copy));
    shares.push_back(rates.back() / plains.back());
  }
  printf("| %-27s | %5ld x %-7ld | %6.2f | %6.2f | %6.2f | %4.0f %% |\n",
         bench.name, bench.rows, bench.cols, median(rates), median(plains),
         median(copies_), 100 * median(shares));
  fflush(stdout);
}

} // namespace

int main(int argc, char **argv) {
  if (argc > 1)
    footprint = size_t(atol(argv[1])) << 20;
  const char *only = argc > 2 ? argv[2] : "";
  const int64_t n = kTokens, d = 768, f = 3072, v = 50257;
  const size_t plane = n * d * 4, wide = n * f * 4, rows = n * 4, cols = d * 4;
  const int64_t big = 1 << 22;
  const size_t line = big * 4;
  printf("| kernel | shape | GB/s | copy GB/s | memcpy GB/s | share "
         "|\n|---|---|---|---|---|---|\n");
  std::vector<Bench> benches = {
      {"layer norm",
       "layer-norm.mlir.in",
       "forward",
       n,
       d,
       n,
       {{plane}, {cols}, {cols}, {plane}, {rows}, {rows}},
       {}},
      {"layer norm input gradient",
       "layer-norm.mlir.in",
       "input_gradient",
       n,
       d,
       n,
       {{plane}, {plane}, {rows}, {rows}, {cols}, {plane}, {plane}},
       {}},
      {"layer norm weight gradient",
       "layer-norm.mlir.in",
       "weight_gradient",
       n,
       d,
       d,
       {{plane}, {plane}, {rows}, {rows}, {cols}, {cols}},
       {}},
      {"bias gradient",
       "layer-norm.mlir.in",
       "bias_gradient",
       n,
       f,
       f,
       {{wide}, {size_t(f) * 4}, {size_t(f) * 4}},
       {{2, 1}}},
      {"gelu tanh",
       "activation.mlir.in",
       "gelu_tanh",
       n,
       f,
       n,
       {{wide}, {size_t(f) * 4}, {wide}},
       {}},
      {"gelu tanh gradient",
       "activation.mlir.in",
       "gelu_tanh_gradient",
       n,
       f,
       n,
       {{wide}, {wide}, {wide}},
       {}},
      {"gelu erf",
       "activation.mlir.in",
       "gelu_erf",
       n,
       f,
       n,
       {{wide}, {wide}},
       {}},
      {"silu", "activation.mlir.in", "silu", n, f, n, {{wide}, {wide}}, {}},
      {"adamw in place",
       "optimizer.mlir.in",
       "adamw",
       1,
       big,
       1,
       {{line}, {line}, {line}, {line}, {4}, {4}, {4}, {line}, {line}, {line}},
       {{7, 0}, {8, 1}, {9, 2}}},
      {"sum of squares",
       "optimizer.mlir.in",
       "sum_of_squares",
       1,
       big,
       1,
       {{line}, {4}},
       {}},
      {"cross-entropy forward",
       "cross-entropy.mlir.in",
       "forward",
       n,
       v,
       n,
       {{size_t(n) * v * 4}, {rows}, {rows}, {rows}, {rows}},
       {}},
      {"cross-entropy backward",
       "cross-entropy.mlir.in",
       "backward",
       n,
       v,
       n,
       {{size_t(n) * v * 4}, {rows}, {rows}, {4}, {size_t(n) * v * 4}},
       {{4, 0}}},
  };
  for (const Bench &bench : benches)
    if (strstr(bench.name, only))
      run(bench);
}
