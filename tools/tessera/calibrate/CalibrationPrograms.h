//===- CalibrationPrograms.h - what calibrate runs --------------*- C++ -*-===//
// Small models, of whose training steps each call is timed. Their sizes spread
// over those of shapes; nothing is measured of the model that is simulated
// later.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_TESSERA_CALIBRATE_CALIBRATIONPROGRAMS_H
#define TESSERA_TOOLS_TESSERA_CALIBRATE_CALIBRATIONPROGRAMS_H

#include "tessera/Options/PlanOptions.h"

namespace tessera {

struct CalibrationProgram {
  std::string config; ///< A config.json.
  PlanOptions plan;
  /// Whether its collectives and messages are measured, rather than its other
  /// calls.
  bool isForLink = false;
};

/// Ranks of the programs that are for the link.
constexpr int64_t kLinkRanks = 2;

/// Of a machine with so many cores; `quick` ones take a second in all.
std::vector<CalibrationProgram> calibrationPrograms(int64_t cores,
                                                    bool isQuick);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_CALIBRATE_CALIBRATIONPROGRAMS_H
