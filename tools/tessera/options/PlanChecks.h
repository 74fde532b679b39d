//===- PlanChecks.h - do the options of a plan go together? -----*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_OPTIONS_PLANCHECKS_H
#define TESSERA_TOOLS_TESSERA_OPTIONS_PLANCHECKS_H

#include "tessera/Options/PlanOptions.h"

namespace tessera {

/// Returns why the options do not fit the mesh or each other, with the remedy;
/// "" if they do. What a flag may be given alone is checked by its table.
std::string checkPlan(const PlanOptions &plan);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_OPTIONS_PLANCHECKS_H
