//===- WholeLayers.h - layers that are recomputed whole ---------*- C++ -*-===//

#ifndef TESSERA_LIB_SIMULATE_WHOLELAYERS_H
#define TESSERA_LIB_SIMULATE_WHOLELAYERS_H

#include "tessera/Simulate/StepProgram.h"
#include <map>

namespace tessera::simulate {

/// For software whose backward of a layer that recomputes everything begins
/// with all of its forward, last product and collectives included. Tessera's
/// backward repeats what it needs.
class WholeLayers {
public:
  /// Finds the forward calls of each layer: the last ones that follow each
  /// other. Copies of weights stand before them, and are not repeated; nor are
  /// messages between stages.
  explicit WholeLayers(const StageProgram &stage);

  /// Returns the calls that run in place of some calls: the forward of a layer
  /// instead of the first call that recomputes it, and nothing instead of the
  /// others.
  std::vector<CallRange> inPlaceOf(CallRange calls) const;

private:
  const StageProgram &stage;
  std::map<int64_t, CallRange> forward; ///< Keyed by layer.
};

} // namespace tessera::simulate

#endif // TESSERA_LIB_SIMULATE_WHOLELAYERS_H
