//===- LossSpikes.cpp - losses far above those before ---------------------===//

#include "tools/tessera/train/LossSpikes.h"
#include <algorithm>
#include <cmath>
#include <numeric>

using namespace tessera;

static constexpr size_t kWindow = 100, kFewest = 20;
static constexpr double kDeviations = 5, kLeastDeviation = 0.01;

LossSpikes::Spike LossSpikes::statistics() const {
  auto count = static_cast<double>(window.size());
  double mean = std::accumulate(window.begin(), window.end(), 0.0) / count;
  double squares = 0;
  for (double loss : window)
    squares += (loss - mean) * (loss - mean);
  return {mean, std::sqrt(squares / count)};
}

std::optional<LossSpikes::Spike> LossSpikes::add(double loss) {
  if (!std::isfinite(loss))
    return std::nullopt;
  std::optional<Spike> spike;
  if (window.size() >= kFewest) {
    Spike before = statistics();
    double deviation =
        std::max(before.deviation, kLeastDeviation * std::abs(before.mean));
    if (loss > before.mean + kDeviations * deviation)
      spike = before;
  }
  window.push_back(loss);
  if (window.size() > kWindow)
    window.pop_front();
  return spike;
}
