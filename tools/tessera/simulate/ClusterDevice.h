//===- ClusterDevice.h - programs for the devices of a cluster --*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_SIMULATE_CLUSTERDEVICE_H
#define TESSERA_TOOLS_TESSERA_SIMULATE_CLUSTERDEVICE_H

#include "tessera/Simulate/Cluster.h"
#include "tools/tessera/options/DriverOptions.h"

namespace tessera {

/// The options of a program that is compiled for a cluster: device and
/// precision are the cluster's where they are not given. Prints an error and
/// returns nothing where other options do not suit them.
std::optional<DriverOptions> optionsFor(const simulate::Cluster &cluster,
                                        const DriverOptions &given);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_SIMULATE_CLUSTERDEVICE_H
