//===- MeasuredCosts.h - seconds of calls on a measured CPU -----*- C++ -*-===//

#ifndef TESSERA_LIB_SIMULATE_MEASUREDCOSTS_H
#define TESSERA_LIB_SIMULATE_MEASUREDCOSTS_H

#include "tessera/Simulate/Simulate.h"

namespace tessera::simulate {

/// Returns the seconds of a call that computes. Infinite if nothing of its kind
/// was measured.
double secondsOfMeasured(const Call &call, const Program &program,
                         const MeasuredRates &rates);

} // namespace tessera::simulate

#endif // TESSERA_LIB_SIMULATE_MEASUREDCOSTS_H
