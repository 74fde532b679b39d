//===- ClusterDevice.cpp - programs for the devices of a cluster ----------===//

#include "tessera/Predict/ClusterDevice.h"

using namespace tessera;

/// Most files of clusters describe GPUs, which compute in bf16.
std::string tessera::fitCluster(PlanOptions &plan,
                                const simulate::Cluster &cluster,
                                TakenFromCluster taken) {
  DeviceOptions &device = plan.device;
  if (taken.device && cluster.kind == DeviceKind::Cuda) {
    device.target.kind = DeviceKind::Cuda;
    if (!cluster.architecture.empty())
      device.target.arch = cluster.architecture;
  }
  const auto &products = cluster.device.products;
  if (taken.precision && cluster.kind == DeviceKind::Cuda &&
      !products.count(Precision::F32) && products.count(Precision::BF16))
    plan.precision = Precision::BF16;
  if (!device.gemmEpilogues && !device.target.isCuda())
    return "--no-gemm-epilogues needs a cluster of GPUs; on the CPU kernels do "
           "it";
  return "";
}
