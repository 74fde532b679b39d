//===- MeasureProgram.h - the calls of a step, timed ------------*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_CALIBRATE_MEASUREPROGRAM_H
#define TESSERA_TOOLS_TESSERA_CALIBRATE_MEASUREPROGRAM_H

#include "tessera/Simulate/Program.h"
#include "tools/tessera/calibrate/CalibrationPrograms.h"
#include <optional>

namespace tessera {

struct MeasuredCall {
  simulate::Call call;
  int64_t ranks = 1; ///< Of a collective's group.
  /// Median of all steps. Of a collective without waiting: of the rank that
  /// came last.
  double seconds = 0;
};

struct MeasuredProgram {
  Precision precision = Precision::F32;
  int64_t threads = 1; ///< Of a rank.
  std::vector<MeasuredCall> calls;
  double betweenCalls = 0; ///< Seconds from the end of one to the next.
};

/// Compiles the program, runs some steps on all cores and times their calls.
/// Prints an error and returns nothing where that fails.
std::optional<MeasuredProgram> measure(const CalibrationProgram &program,
                                       int64_t cores, int64_t steps);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_CALIBRATE_MEASUREPROGRAM_H
