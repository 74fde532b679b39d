//===- Products.cpp - Matrix products of a GPT-2 step, in oneDNN ----------===//
#include "bench/floor/Products.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <dnnl.hpp>
#include <memory>

using namespace bench;

bool Product::operator==(const Product &o) const {
  return m == o.m && n == o.n && k == o.k && transposeA == o.transposeA &&
         transposeB == o.transposeB;
}

namespace {
struct Matmul {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  dnnl::memory::desc a, b, c;
  dnnl::matmul primitive;
  dnnl::memory memoryA, memoryB, memoryC;

  Matmul(const Product &p, dnnl::memory::data_type type)
      : a(layout(p.m, p.k, p.transposeA, type)),
        b(layout(p.k, p.n, p.transposeB, type)),
        c(layout(p.m, p.n, false, type)),
#if DNNL_VERSION_MAJOR >= 3
        primitive(dnnl::matmul::primitive_desc(engine, a, b, c)),
#else
        primitive(
            dnnl::matmul::primitive_desc(dnnl::matmul::desc(a, b, c), engine)),
#endif
        memoryA(a, engine, nullptr), memoryB(b, engine, nullptr),
        memoryC(c, engine, nullptr) {
  }

  static dnnl::memory::desc layout(int64_t rows, int64_t columns,
                                   bool transposed,
                                   dnnl::memory::data_type type) {
    const dnnl::memory::dims strides = transposed
                                           ? dnnl::memory::dims{1, rows}
                                           : dnnl::memory::dims{columns, 1};
    return dnnl::memory::desc({rows, columns}, type, strides);
  }

  void run(void *dataA, void *dataB, void *dataC) {
    memoryA.set_data_handle(dataA);
    memoryB.set_data_handle(dataB);
    memoryC.set_data_handle(dataC);
    primitive.execute(stream, {{DNNL_ARG_SRC, memoryA},
                               {DNNL_ARG_WEIGHTS, memoryB},
                               {DNNL_ARG_DST, memoryC}});
    stream.wait();
  }
};
} // namespace

static void sgemm(const Product &p, void *a, void *b, void *c) {
  dnnl_sgemm(p.transposeA ? 'T' : 'N', p.transposeB ? 'T' : 'N', p.m, p.n, p.k,
             1.0f, static_cast<float *>(a), p.transposeA ? p.m : p.k,
             static_cast<float *>(b), p.transposeB ? p.k : p.n, 0.0f,
             static_cast<float *>(c), p.n);
}

/// Returns the best of three times, after one run to warm up.
static double bestSeconds(const std::function<void()> &run) {
  double best = 1e30;
  for (int i = 0; i < 4; ++i) {
    const auto start = std::chrono::steady_clock::now();
    run();
    const std::chrono::duration<double> time =
        std::chrono::steady_clock::now() - start;
    if (i > 0)
      best = std::min(best, time.count());
  }
  return best;
}

/// Memory for the life of the program, filled with small numbers: untouched
/// pages would all be one page of zeros, in cache.
void *Step::allocate(int64_t elements) const {
  const size_t bytes = size_t(elements) * (sizes.bf16 ? 2 : 4);
  void *memory = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  if (!memory)
    std::abort();
  const uint16_t one = 0x3c23; // bf16 0.00995; as f32 pairs about the same
  for (size_t i = 0; i < bytes / 2; ++i)
    std::memcpy(static_cast<char *>(memory) + 2 * i, &one, 2);
  return memory;
}

void Step::choose(Shape &shape, const Operands &o) {
  const Product p = shape.product;
  auto matmul =
      std::make_shared<Matmul>(p, sizes.bf16 ? dnnl::memory::data_type::bf16
                                             : dnnl::memory::data_type::f32);
  Call call = [matmul](const Operands &x) { matmul->run(x.a, x.b, x.c); };
  shape.method = "matmul";
  shape.seconds = bestSeconds([&] { call(o); });
  if (!sizes.bf16) {
    const double other = bestSeconds([&] { sgemm(p, o.a, o.b, o.c); });
    if (other < shape.seconds) {
      shape.method = "sgemm";
      shape.seconds = other;
      call = [p](const Operands &x) { sgemm(p, x.a, x.b, x.c); };
    }
  }
  calls.push_back(std::move(call));
}

void Step::add(const Product &product, const Operands &operands) {
  size_t i = 0;
  while (i < distinct.size() && !(distinct[i].product == product))
    ++i;
  if (i == distinct.size()) {
    distinct.push_back({product, 0, "", 0});
    choose(distinct.back(), operands);
  }
  ++distinct[i].count;
  items.push_back({i, operands});
}

/// Adds a layer with a weight of [in, out]: y = x w, dx = dy w^T, dw = x^T dy.
void Step::linear(int64_t in, int64_t out) {
  void *weight = allocate(in * out), *gradient = allocate(in * out);
  const int64_t t = sizes.tokens;
  add({t, out, in, false, false}, {input, weight, output});
  add({t, in, out, false, true}, {input, weight, output});
  add({in, out, t, true, false}, {input, output, gradient});
}

Step::Step(const Sizes &sizes) : sizes(sizes) {
  const int64_t widest =
      std::max({3 * sizes.width, sizes.inner, sizes.vocabulary});
  input = allocate(sizes.tokens * widest);
  output = allocate(sizes.tokens * widest);
  for (int64_t layer = 0; layer < sizes.layers; ++layer) {
    linear(sizes.width, 3 * sizes.width);
    linear(sizes.width, sizes.width);
    linear(sizes.width, sizes.inner);
    linear(sizes.inner, sizes.width);
  }
  // Tied output projection with a weight e of [vocabulary, width].
  const int64_t t = sizes.tokens, v = sizes.vocabulary, h = sizes.width;
  void *weight = allocate(v * h), *gradient = allocate(v * h);
  add({t, v, h, false, true}, {input, weight, output});
  add({t, h, v, false, false}, {input, weight, output});
  add({v, h, t, true, false}, {input, output, gradient});
}

void Step::run() const {
  for (const Item &item : items)
    calls[item.shape](item.operands);
}
