//===- Simulate.h - a step in virtual time ----------------------*- C++ -*-===//
// Every stage runs its program on a model of the cluster: calls one after the
// other, collectives and messages beside them where they are started early,
// messages when both ends are there.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_SIMULATE_SIMULATE_H
#define TESSERA_SIMULATE_SIMULATE_H

#include "tessera/Simulate/Cluster.h"
#include "tessera/Simulate/StepProgram.h"

namespace tessera::simulate {

/// A rank's activities. Their times add up to the step.
enum class Activity {
  Products,
  Attention,
  Kernels,
  Collectives, ///< Time beside which nothing is computed.
  Stages,      ///< Waits for messages, and idle at the ends.
};
constexpr size_t kActivities = 5;
const char *nameOf(Activity activity);

/// Returns the activity as which the time of a call counts; for a collective or
/// a message, the time that a rank waits for it. A wait counts as the call that
/// it waits for.
Activity activityOf(const Program &program, const Call &call);

/// A call in time.
struct Span {
  /// Work runs on the device; transfers run on its queue of communication,
  /// beside that; and in a wait the device waits for one of these.
  enum Kind { Work, Transfer, Wait };
  int64_t call = 0, microBatch = 0;
  double begin = 0, end = 0;
  Kind kind = Work;
  Activity activity = Activity::Kernels;
};

struct StageTimes {
  double end = 0; ///< When its step ends.
  std::array<double, kActivities> seconds = {};
  std::vector<double> collectives; ///< Seconds for each axis, exposed or not.
  std::vector<Span> spans;         ///< If they were asked for.
};

struct StepTimes {
  double seconds = 0;
  std::vector<StageTimes> stages;
};

/// The time of one call without any that it waits for; of a collective or a
/// message that of its transfer.
double secondsOf(const Call &call, const Program &program, int64_t stage,
                 const Cluster &cluster);

/// The flops that attention or its gradient computes if it computes scores of
/// `hiddenKeys` keys more for each query than a mask leaves, but of all at
/// most. `call.flops` counts those that the mask leaves.
double flopsWithHidden(const Call &call, double hiddenKeys);

/// An error if the cluster's kind of device is not the program's, if it has
/// fewer devices than the program ranks, if it says nothing of the program's
/// precision, or if a stage waits forever.
llvm::Expected<StepTimes> simulate(const Program &program,
                                   const Cluster &machines, bool keepSpans);

} // namespace tessera::simulate

#endif // TESSERA_SIMULATE_SIMULATE_H
