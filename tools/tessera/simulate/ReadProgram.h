//===- ReadProgram.h - what is simulated, from an artifact's metadata -----===//

#ifndef TESSERA_TOOLS_TESSERA_SIMULATE_READPROGRAM_H
#define TESSERA_TOOLS_TESSERA_SIMULATE_READPROGRAM_H

#include "tessera/Simulate/Program.h"
#include "tools/tessera/report/Report.h"
#include <optional>

namespace tessera {

/// The training step of `metadata`, of which `report` was read. Prints an error
/// and returns nothing where it is malformed or no training step.
std::optional<simulate::Program> readProgram(llvm::StringRef metadata,
                                             const Report &report);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_SIMULATE_READPROGRAM_H
