//===- StepWait.h - how a rank waits for its GPU ----------------*- C++ -*-===//
// Steps take about as long as those before: the rank sleeps through most of
// one and then asks without a pause, so that the next begins at once.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CUDA_STEP_STEPWAIT_H
#define TESSERA_RUNTIME_CUDA_STEP_STEPWAIT_H

#include <algorithm>
#include <chrono>

namespace tessera::cuda {

class StepWait {
public:
  using Duration = std::chrono::nanoseconds;

  /// Returns the time to sleep before the next query, `waited` after the first.
  Duration napAfter(Duration waited) const {
    using namespace std::chrono_literals;
    Duration asleep = last - last / 8 - waited;
    if (asleep > shortest)
      return std::min<Duration>(asleep, longest);
    return waited < last + last / 8 + 2ms ? Duration(0) : shortest;
  }
  /// The step ended `waited` after the first query.
  void ended(Duration waited) { last = waited; }

  /// A thread does not wake earlier; failures are not seen in between.
  static constexpr Duration shortest = std::chrono::microseconds(50),
                            longest = std::chrono::milliseconds(1);

private:
  Duration last{0};
};

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_STEP_STEPWAIT_H
