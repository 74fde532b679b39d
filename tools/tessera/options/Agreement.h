//===- Agreement.h - what the processes of a run have alike -----*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_OPTIONS_AGREEMENT_H
#define TESSERA_TOOLS_TESSERA_OPTIONS_AGREEMENT_H

#include "tools/tessera/options/PlanGroup.h"

namespace tessera {

/// Returns the options of a run, whose command is `app`, and their values that
/// must be the same in all processes.
std::vector<std::pair<std::string, std::string>>
agreedOptions(const CLI::App &app, const RunSettings &options,
              const PlanGroup &group);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_OPTIONS_AGREEMENT_H
