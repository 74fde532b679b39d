//===- MeasureProgram.h - the calls of a step, timed ------------*- C++ -*-===//

#ifndef TESSERA_LIB_CALIBRATE_MEASUREPROGRAM_H
#define TESSERA_LIB_CALIBRATE_MEASUREPROGRAM_H

#include "lib/Calibrate/CalibrationPrograms.h"
#include "lib/Calibrate/TraceTimes.h"
#include "tessera/Artifact/ArtifactFile.h"
#include "tessera/Simulate/StepProgram.h"
#include <memory>
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
  /// Compiles and loads it. Errors are diagnostics of the context.
  mlir::LogicalResult open(mlir::MLIRContext &context,
                           const CalibrationProgram &program, int64_t cores);
  /// Runs some more steps on all cores, after one or two that do not count.
  llvm::Error run(int64_t steps);
  /// Returns the median of each call over all steps so far; the calls that
  /// compute are scaled so that their sum is what a step takes for all of them.
  MeasuredProgram result() const;

private:
  struct DestroySession {
    void operator()(tsr_session *session) const {
      tsr_session_destroy(session);
    }
  };
  using Session = std::unique_ptr<tsr_session, DestroySession>;
  Session startSession() const;

  ArtifactFile artifact;
  DeviceKind device = DeviceKind::Cpu;
  std::string communicator; ///< "": the default.
  int64_t cores = 1;
  std::optional<simulate::Program> calls;
  Precision precision = Precision::F32;
  bool isForLink = false;
  TraceTimes times;
};

} // namespace tessera

#endif // TESSERA_LIB_CALIBRATE_MEASUREPROGRAM_H
