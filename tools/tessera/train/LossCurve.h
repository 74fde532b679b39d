//===- LossCurve.h - a plot of the loss in plain characters -----*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_TRAIN_LOSSCURVE_H
#define TESSERA_TOOLS_TESSERA_TRAIN_LOSSCURVE_H

#include <cstdint>
#include <string>
#include <vector>

namespace tessera {

/// A plot of `height` lines; `baseline` (0: none) is drawn as a line of dashes.
std::string lossCurve(const std::vector<double> &losses, int64_t firstStep,
                      double baseline, int width, int height);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_TRAIN_LOSSCURVE_H
