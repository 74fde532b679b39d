//===- MeasuredStep.h - a step as it ran, from its trace --------*- C++ -*-===//
// Reads a trace of `tessera train --trace` in the terms of a simulated step, so
// that the two can be compared.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_PREDICT_MEASUREDSTEP_H
#define TESSERA_PREDICT_MEASUREDSTEP_H

#include "tessera/Simulate/Simulate.h"
#include "llvm/Support/JSON.h"

namespace tessera {

/// The time of a simulated step that no call takes is part of the calls.
constexpr const char *kBetweenCalls = "between_calls";

struct MeasuredRank {
  int64_t rank = 0, stage = 0;
  simulate::StageTimes times;
  double between = 0; ///< Seconds of the step in no call.
};

/// The activities of the ranks of a stage, on average.
struct MeasuredStage {
  int64_t stage = 0, ranks = 0;
  std::array<double, simulate::kActivities> seconds = {};
  double between = 0;
};

struct MeasuredStep {
  double seconds = 0; ///< From the first call of a rank to the end of the last.
  std::vector<MeasuredRank> ranks; ///< Ranks of the process that traced them.
  llvm::json::Array events;        ///< In the form of the file.

  /// Those that have a rank here.
  std::vector<MeasuredStage> stages() const;
  llvm::json::Object json(const simulate::Program &program) const;
};

/// Reads a trace of `program`; an error says why it is none. Simulated ranks of
/// a file that has both are left out.
llvm::Expected<MeasuredStep> readMeasuredStep(const std::string &path,
                                              const simulate::Program &program);

/// Returns what a trace says of its program in "otherData"; the runtime says
/// the same.
llvm::json::Object programOfTrace(const simulate::Program &program);

} // namespace tessera

#endif // TESSERA_PREDICT_MEASUREDSTEP_H
