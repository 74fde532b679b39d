//===- LossCurve.h - a plot of the loss in plain characters -----*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_TRAIN_LOSSCURVE_H
#define TESSERA_TOOLS_TESSERA_TRAIN_LOSSCURVE_H

#include <cstdint>
#include <string>
#include <vector>

namespace tessera {

/// A loss after so many steps.
struct LossPoint {
  int64_t step = 0;
  double loss = 0;
};

/// Losses of steps from `firstStep` (from 0) on, and of evaluations.
struct LossHistory {
  const std::vector<double> &losses;
  int64_t firstStep = 0;
  double baseline = 0; ///< Drawn as a line of dashes; 0: none.
  const std::vector<LossPoint> &evaluations; ///< Drawn as `o`.
};

/// Returns a plot of `height` lines; of losses that are not finite there is
/// nothing.
std::string lossCurve(const LossHistory &history, int width, int height);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_TRAIN_LOSSCURVE_H
