//===- WriteMachine.h - the file that calibrate writes ----------*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_CALIBRATE_WRITEMACHINE_H
#define TESSERA_TOOLS_TESSERA_CALIBRATE_WRITEMACHINE_H

#include "tessera/Simulate/Cluster.h"
#include "tools/tessera/options/DriverOptions.h"

namespace tessera {

/// `comment`: whole lines for the beginning of the file. Returns the exit code
/// of the command.
int writeMachine(const DriverOptions &options, const std::string &comment,
                 const simulate::Cluster &cluster);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_CALIBRATE_WRITEMACHINE_H
