//===- Cluster.cpp - what a simulation knows of machines ------------------===//

#include "tessera/Simulate/Cluster.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>

using namespace tessera::simulate;

double SizeCurve::at(double bytes) const {
  if (points.empty())
    return 0;
  if (bytes <= points.front().first)
    return points.front().second;
  for (size_t i = 1; i < points.size(); ++i) {
    auto [right, high] = points[i];
    if (bytes > right)
      continue;
    auto [left, low] = points[i - 1];
    double share = std::log(bytes / left) / std::log(right / left);
    return low + share * (high - low);
  }
  return points.back().second;
}

static std::array<double, 4> termsOf(const std::array<double, 3> &shape) {
  return {1, 1 / shape[0], 1 / shape[1], 1 / shape[2]};
}

static double rateOf(const std::optional<std::array<double, 4>> &trend,
                     const std::array<double, 3> &shape) {
  if (!trend)
    return 1;
  double seconds = 0;
  for (auto [term, value] : llvm::zip(termsOf(shape), *trend))
    seconds += term * value;
  return 1 / seconds;
}

double ShapeRates::at(const std::array<int64_t, 3> &sizes) const {
  // With a trend, points that are near count alike: one of them is not as
  // certain as what they say together.
  double nearest = trend ? 0.1 : 1e-12;
  std::array<double, 3> shape;
  for (size_t i = 0; i < shape.size(); ++i)
    shape[i] = static_cast<double>(std::max<int64_t>(sizes[i], 1));
  double weights = 0, sum = 0;
  for (const Point &point : points) {
    double square = nearest;
    for (size_t i = 0; i < shape.size(); ++i)
      square += std::pow(std::log(shape[i] / point.shape[i]), 2);
    double weight = 1 / (square * square);
    weights += weight;
    sum += weight * std::log(point.rate / rateOf(trend, point.shape));
  }
  return weights > 0 ? std::exp(sum / weights) * rateOf(trend, shape) : 0;
}

void ShapeRates::fitTrend() {
  // Least squares of relative errors, coordinate by coordinate.
  std::array<std::array<double, 4>, 4> products = {};
  std::array<double, 4> sums = {}, best = {};
  for (const Point &point : points) {
    std::array<double, 4> terms = termsOf(point.shape);
    for (size_t i = 0; i < terms.size(); ++i) {
      sums[i] += terms[i] * point.rate;
      for (size_t k = 0; k < terms.size(); ++k)
        products[i][k] += terms[i] * terms[k] * point.rate * point.rate;
    }
  }
  constexpr int rounds = 3000;
  for (int round = 0; round < rounds; ++round)
    for (size_t i = 0; i < best.size(); ++i) {
      double rest = sums[i];
      for (size_t k = 0; k < best.size(); ++k)
        rest -= products[i][k] * best[k];
      best[i] = std::max(0.0, best[i] + rest / products[i][i]);
    }
  if (llvm::all_of(points, [&](const Point &point) {
        return std::isnormal(rateOf(best, point.shape));
      }))
    trend = best;
}

const ShapeRates &ProductRates::of(ProductForm form) const {
  const ShapeRates &rates = forms[static_cast<size_t>(form)];
  return rates.points.empty() ? forms[0] : rates;
}

const char *ProductRates::keyOf(ProductForm form) {
  constexpr const char *keys[kProductForms] = {
      "products", "products_transposed_a", "products_transposed_b"};
  return keys[static_cast<size_t>(form)];
}

int64_t Cluster::threadsOf(int64_t ranks) const {
  return std::max<int64_t>(coresPerNode * nodes / ranks, 1);
}

Cluster Cluster::sharedBy(int64_t ranks) const {
  Cluster shared = *this;
  if (byThreads.empty())
    return shared;
  shared.devicesPerNode = (ranks + nodes - 1) / nodes;
  auto next = byThreads.upper_bound(threadsOf(ranks));
  if (next != byThreads.begin())
    --next; // the most threads that were measured and that a rank has
  shared.device = next->second;
  shared.device.memoryBytes =
      nodeMemoryBytes / static_cast<double>(shared.devicesPerNode);
  return shared;
}
