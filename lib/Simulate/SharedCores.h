//===- SharedCores.h - more ranks than cores --------------------*- C++ -*-===//

#ifndef TESSERA_LIB_SIMULATE_SHAREDCORES_H
#define TESSERA_LIB_SIMULATE_SHAREDCORES_H

#include "tessera/Simulate/Simulate.h"

namespace tessera::simulate {

/// The pace of a step whose ranks share the cores of a CPU. At each moment the
/// ranks that have work get equal parts of the cores of their node, and a rank
/// that waits leaves its cores to the others. So the ranks do the same things
/// in the same order as with cores of their own, but slower while more threads
/// than cores have work.
class SharedCores {
public:
  /// `own`: the step with its spans, if each rank had cores of its own.
  SharedCores(const Program &program, const Cluster &cluster,
              const StepTimes &own);

  /// Returns when that happens which would happen at `time` with cores of its
  /// own.
  double at(double time) const;

private:
  /// From a time on, the pace is the same until that of the next point.
  struct Point {
    double own, shared;
    double stretch; ///< Seconds for each second with cores of its own.
  };
  std::vector<Point> points;
};

} // namespace tessera::simulate

#endif // TESSERA_LIB_SIMULATE_SHAREDCORES_H
