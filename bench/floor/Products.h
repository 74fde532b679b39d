//===- Products.h - Matrix products of a GPT-2 step, in oneDNN --*- C++ -*-===//
// The weight products of one step: forward, input gradient and weight gradient
// of every linear layer and of the tied output projection. Attention's own
// products are not among them. Every weight and gradient has memory of its own,
// as in training; activations share.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_BENCH_FLOOR_PRODUCTS_H
#define TESSERA_BENCH_FLOOR_PRODUCTS_H

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace bench {

struct Sizes {
  int64_t layers, width, inner, vocabulary, tokens;
  bool bf16;
};

/// c[m, n] = op(a) op(b), row-major; op transposes where the flag says so.
struct Product {
  int64_t m, n, k;
  bool transposeA, transposeB;
  bool operator==(const Product &other) const;
};

struct Shape {
  Product product;
  int64_t count;
  const char *method; // the faster one: "sgemm" or "matmul"
  double seconds;     // time of one product, in the trial that chose the method
};

/// All products of a step, ready to run.
class Step {
public:
  /// Tries both of oneDNN's ways for each shape and keeps the faster.
  explicit Step(const Sizes &sizes);
  void run() const;
  const std::vector<Shape> &shapes() const { return distinct; }

private:
  struct Operands {
    void *a, *b, *c;
  };
  using Call = std::function<void(const Operands &)>;
  struct Item {
    size_t shape;
    Operands operands;
  };

  void linear(int64_t in, int64_t out);
  void add(const Product &product, const Operands &operands);
  void choose(Shape &shape, const Operands &operands);
  void *allocate(int64_t elements) const;

  Sizes sizes;
  void *input, *output; // shared by all products, of the largest size
  std::vector<Shape> distinct;
  std::vector<Call> calls; // one per shape
  std::vector<Item> items;
};

} // namespace bench
#endif // TESSERA_BENCH_FLOOR_PRODUCTS_H
