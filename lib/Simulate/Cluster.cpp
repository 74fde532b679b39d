//===- Cluster.cpp - what a simulation knows of machines ------------------===//

#include "tessera/Simulate/Cluster.h"
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
