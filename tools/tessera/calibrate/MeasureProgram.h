//===- MeasureProgram.h - the calls of a step, timed ------------*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_CALIBRATE_MEASUREPROGRAM_H
#define TESSERA_TOOLS_TESSERA_CALIBRATE_MEASUREPROGRAM_H

#include "tessera/Simulate/StepProgram.h"
#include "tools/tessera/calibrate/CalibrationPrograms.h"
#include "tools/tessera/calibrate/TraceTimes.h"
#include "tools/tessera/input/ArtifactFile.h"
#include <optional>

namespace tessera {

struct MeasuredCall {
  simulate::Call call;
  int64_t ranks = 1; ///< Ranks of a collective's group.
  /// For a collective, the time without waiting: that of the rank that came
  /// last.
  double seconds = 0;
};

struct MeasuredProgram {
  Precision precision = Precision::F32;
  bool isForLink = false; ///< See CalibrationProgram.
  int64_t threads = 1;    ///< Threads of a rank.
  std::vector<MeasuredCall> calls;
  double betweenCalls = 0; ///< Seconds from the end of one to the next.
};

/// A program whose calls are timed. It may run in turns with others, so that
/// other work on the machine for some seconds disturbs no program alone.
class TimedProgram {
public:
  /// Compiles and loads it. False after an error, which is printed.
  bool open(const CalibrationProgram &program, int64_t cores);
  /// Runs some more steps on all cores, after one or two that do not count.
  /// False after an error, which is printed.
  bool run(int64_t steps);
  /// Returns the median of each call over all steps so far; the calls that
  /// compute are scaled so that their sum is what a step takes for all of them.
  MeasuredProgram result() const;

private:
  RunSettings options;
  ArtifactFile artifact;
  std::optional<simulate::Program> calls;
  Precision precision = Precision::F32;
  bool isForLink = false;
  TraceTimes times;
};

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_CALIBRATE_MEASUREPROGRAM_H
