//===- CalibrationPrograms.h - what calibrate runs --------------*- C++ -*-===//
// Small models, of whose training steps each call is timed. Their sizes spread
// over those of shapes; nothing is measured of the model that is simulated
// later.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_CALIBRATE_CALIBRATIONPROGRAMS_H
#define TESSERA_LIB_CALIBRATE_CALIBRATIONPROGRAMS_H

#include "tessera/Options/PlanOptions.h"

namespace tessera {

struct CalibrationProgram {
  std::string config; ///< A config.json.
  PlanOptions plan;
  std::string communicator; ///< "": the default.
  /// True if its collectives and messages are measured, rather than its other
  /// calls.
  bool isForLink = false;
};

enum class CalibrationFamily { Gpt2, Bert, Llama, Mixtral };

/// A model whose training step is timed.
struct CalibrationModel {
  CalibrationFamily family;
  int64_t hidden, inner, heads, vocabulary, sequence;
  int64_t batch;       ///< Sequences of a rank.
  int64_t layers = 1;  ///< One for each stage, to be split.
  int64_t experts = 4; ///< Experts of Mixtral.
};

/// With so many ranks of one axis; transfers do not overlap with computation,
/// so that they are timed alone.
CalibrationProgram programOf(const CalibrationModel &size, Precision precision,
                             MeshAxis axis, int64_t ranks);

/// Ranks of the programs that are for the link.
constexpr int64_t kLinkRanks = 2;

/// Returns the programs for a machine with so many cores; `quick` ones take a
/// second in all.
std::vector<CalibrationProgram> calibrationPrograms(int64_t cores,
                                                    bool isQuick);

} // namespace tessera

#endif // TESSERA_LIB_CALIBRATE_CALIBRATIONPROGRAMS_H
