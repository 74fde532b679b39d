//===- LossCurve.cpp - a plot of the loss in plain characters -------------===//

#include "tools/tessera/train/LossCurve.h"
#include <algorithm>
#include <cmath>

using namespace tessera;

/// Means of `columns` equal runs of steps.
static std::vector<double> means(const std::vector<double> &losses,
                                 size_t columns) {
  std::vector<double> result;
  for (size_t c = 0; c < columns; ++c) {
    size_t begin = c * losses.size() / columns;
    size_t end = std::max(begin + 1, (c + 1) * losses.size() / columns);
    double sum = 0;
    for (size_t i = begin; i < end; ++i)
      sum += losses[i];
    result.push_back(sum / static_cast<double>(end - begin));
  }
  return result;
}

static std::string label(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%8.3f |", value);
  return text;
}

std::string tessera::lossCurve(const std::vector<double> &losses,
                               int64_t firstStep, double baseline, int width,
                               int height) {
  if (losses.size() < 2)
    return "";
  std::vector<double> y = means(losses, std::min<size_t>(losses.size(), width));
  auto [least, most] = std::minmax_element(y.begin(), y.end());
  double low = *least, high = *most;
  if (baseline > 0) {
    low = std::min(low, baseline);
    high = std::max(high, baseline);
  }
  double cell = std::max((high - low) / (height - 1), 1e-12);
  auto row = [&](double v) { return std::lround((high - v) / cell); };
  std::string text;
  for (int r = 0; r < height; ++r) {
    bool onBaseline = baseline > 0 && row(baseline) == r;
    std::string line = label(high - r * cell);
    for (double v : y)
      line += row(v) == r ? '*' : onBaseline ? '-' : ' ';
    if (onBaseline)
      line += " byte frequencies";
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  std::string last = std::to_string(firstStep + losses.size());
  std::string axis = std::to_string(firstStep + 1);
  axis.resize(std::max(y.size(), axis.size() + last.size() + 1) - last.size(),
              ' ');
  return text + "    step  " + axis + last + "\n";
}
