//===- LossCurve.cpp - a plot of the loss in plain characters -------------===//

#include "tools/tessera/train/LossCurve.h"
#include <algorithm>
#include <cmath>
#include <limits>

using namespace tessera;

/// Means of `columns` equal runs of steps; NaN where none has a loss.
static std::vector<double> means(const std::vector<double> &losses,
                                 size_t columns) {
  std::vector<double> result;
  for (size_t c = 0; c < columns; ++c) {
    size_t begin = c * losses.size() / columns;
    size_t end = std::max(begin + 1, (c + 1) * losses.size() / columns);
    double sum = 0, count = 0;
    for (size_t i = begin; i < end; ++i)
      if (std::isfinite(losses[i])) {
        sum += losses[i];
        ++count;
      }
    result.push_back(sum / count);
  }
  return result;
}

static std::string label(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%8.3f |", value);
  return text;
}

/// The last evaluation of each column, NaN where there is none.
static std::vector<double> evaluationsOf(const LossHistory &history,
                                         size_t columns) {
  std::vector<double> result(columns, std::nan(""));
  auto steps = static_cast<int64_t>(history.losses.size());
  for (const LossPoint &point : history.evaluations) {
    int64_t place =
        std::clamp<int64_t>(point.step - 1 - history.firstStep, 0, steps - 1);
    result[place * static_cast<int64_t>(columns) / steps] = point.loss;
  }
  return result;
}

/// Returns the range that the plot shows, from the lowest to the highest.
static std::pair<double, double> rangeOf(const std::vector<double> &y,
                                         const std::vector<double> &other,
                                         double baseline) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  auto include = [&](double value) {
    if (!std::isfinite(value))
      return;
    low = std::min(low, value);
    high = std::max(high, value);
  };
  if (baseline > 0)
    include(baseline);
  for (const auto *values : {&y, &other})
    for (double value : *values)
      include(value);
  return {low, high};
}

std::string tessera::lossCurve(const LossHistory &history, int width,
                               int height) {
  const std::vector<double> &losses = history.losses;
  if (losses.size() < 2)
    return "";
  std::vector<double> y = means(losses, std::min<size_t>(losses.size(), width));
  std::vector<double> o = evaluationsOf(history, y.size());
  auto [low, high] = rangeOf(y, o, history.baseline);
  if (low > high)
    return "";
  double top = high, cell = std::max((high - low) / (height - 1), 1e-12);
  auto isIn = [&](double v, int r) {
    return std::isfinite(v) && std::lround((top - v) / cell) == r;
  };
  std::string text;
  for (int r = 0; r < height; ++r) {
    bool onBaseline = history.baseline > 0 && isIn(history.baseline, r);
    std::string line = label(high - r * cell);
    for (size_t c = 0; c < y.size(); ++c)
      line += isIn(o[c], r)   ? 'o'
              : isIn(y[c], r) ? '*'
              : onBaseline    ? '-'
                              : ' ';
    if (onBaseline)
      line += " byte frequencies";
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  std::string last = std::to_string(history.firstStep + losses.size());
  std::string axis = std::to_string(history.firstStep + 1);
  axis.resize(std::max(y.size(), axis.size() + last.size() + 1) - last.size(),
              ' ');
  return text + "    step  " + axis + last +
         (history.evaluations.empty() ? "" : "    (o: evaluation)") + "\n";
}
