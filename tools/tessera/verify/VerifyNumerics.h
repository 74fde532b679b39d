//===- VerifyNumerics.h - both programs, run and compared -------*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_VERIFY_VERIFYNUMERICS_H
#define TESSERA_TOOLS_TESSERA_VERIFY_VERIFYNUMERICS_H

#include "tessera/Options/PlanOptions.h"
#include <cstdint>
#include <string>

namespace tessera {

/// What the runs of the serial and the parallel program have in common.
struct NumericCheck {
  int64_t steps = 0, values = 0;
  double worst = 0;       ///< Largest relative difference of any value.
  std::string worstName;  ///< Which value has it.
  std::string difference; ///< The first value that differs; "" if none does.
  int64_t messages = 0;   ///< Between stages, checked; 0: there are none.
};

/// Runs both artifacts on the same tokens from the same seed, all ranks in this
/// process, and compares every activation, gradient, moment and parameter, in
/// program order. `precision` sets the tolerance. False after an error that has
/// been printed.
bool compareRuns(const std::string &serialPath, const std::string &parallelPath,
                 Precision precision, NumericCheck &check);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_VERIFY_VERIFYNUMERICS_H
