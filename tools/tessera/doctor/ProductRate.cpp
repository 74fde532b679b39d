//===- ProductRate.cpp - how fast the machine multiplies matrices ---------===//

#include "tools/tessera/doctor/ProductRate.h"
#include <algorithm>
#include <chrono>
#include <dlfcn.h>
#include <vector>

using namespace tessera;

/// A function of dnnl.h: row-major C = alpha A B + beta C; returns 0 on
/// success.
template <typename T>
using Product = int (*)(char, char, int64_t, int64_t, int64_t, float, const T *,
                        int64_t, const T *, int64_t, float, float *, int64_t);

/// Large enough for the library's best rate, and small for slow machines.
static constexpr int64_t kSize = 1024;

template <typename T> static double rateOf(void *symbol) {
  using Clock = std::chrono::steady_clock;
  auto product = reinterpret_cast<Product<T>>(symbol);
  if (!product)
    return 0;
  // Zeros may be faster than numbers where a processor saves power.
  std::vector<T> a(kSize * kSize, T(0x3f80)), b = a;
  std::vector<float> c(kSize * kSize);
  double best = 0;
  Clock::time_point begin = Clock::now();
  for (int i = 0;
       i < 2 || Clock::now() - begin < std::chrono::milliseconds(250); ++i) {
    Clock::time_point start = Clock::now();
    if (product('N', 'N', kSize, kSize, kSize, 1, a.data(), kSize, b.data(),
                kSize, 0, c.data(), kSize) != 0)
      return 0;
    double seconds =
        std::chrono::duration<double>(Clock::now() - start).count();
    best = std::max(best, 2.0 * kSize * kSize * kSize / seconds);
  }
  return best;
}

double tessera::productRate(void *library, Precision precision) {
  if (precision == Precision::F32)
    return rateOf<float>(dlsym(library, "dnnl_sgemm"));
  if (precision == Precision::BF16)
    return rateOf<uint16_t>(dlsym(library, "dnnl_gemm_bf16bf16f32"));
  return 0;
}
