//===- Cluster.cpp - what a simulation knows of machines ------------------===//

#include "tessera/Simulate/Cluster.h"
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

double ShapeRates::at(const std::array<int64_t, 3> &shape) const {
  double weights = 0, sum = 0;
  for (const Point &point : points) {
    double square = 0;
    for (size_t i = 0; i < shape.size(); ++i) {
      double size = static_cast<double>(std::max<int64_t>(shape[i], 1));
      double distance = std::log(size / point.shape[i]);
      square += distance * distance;
    }
    if (square < 1e-12)
      return point.rate;
    double weight = 1 / (square * square);
    weights += weight;
    sum += weight * std::log(point.rate);
  }
  return weights > 0 ? std::exp(sum / weights) : 0;
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
