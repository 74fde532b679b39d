//===- ClusterDevice.h - programs for the devices of a cluster --*- C++ -*-===//

#ifndef TESSERA_PREDICT_CLUSTERDEVICE_H
#define TESSERA_PREDICT_CLUSTERDEVICE_H

#include "tessera/Options/PlanOptions.h"
#include "tessera/Simulate/Cluster.h"
#include <string>

namespace tessera {

/// Says which options were not given, so that the program takes them from the
/// cluster that it is compiled for.
struct TakenFromCluster {
  bool device = false, precision = false;
};

/// Completes the plan of a program that is compiled for a cluster. Returns what
/// does not suit the cluster, or "".
std::string fitCluster(PlanOptions &plan, const simulate::Cluster &cluster,
                       TakenFromCluster taken);

} // namespace tessera

#endif // TESSERA_PREDICT_CLUSTERDEVICE_H
