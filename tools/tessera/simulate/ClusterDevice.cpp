//===- ClusterDevice.cpp - programs for the devices of a cluster ----------===//

#include "tools/tessera/simulate/ClusterDevice.h"
#include "tools/tessera/report/PrintError.h"

using namespace tessera;

/// Most files of clusters describe GPUs, which compute in bf16.
std::optional<DriverOptions>
tessera::optionsFor(const simulate::Cluster &cluster,
                    const DriverOptions &given) {
  DriverOptions options = given;
  DeviceOptions &device = options.plan.device;
  if (options.simulate.takesDevice && cluster.kind == DeviceKind::Cuda) {
    device.target.kind = DeviceKind::Cuda;
    if (!cluster.architecture.empty())
      device.target.arch = cluster.architecture;
  }
  const auto &products = cluster.device.products;
  if (options.simulate.takesPrecision && cluster.kind == DeviceKind::Cuda &&
      !products.count(Precision::F32) && products.count(Precision::BF16))
    options.plan.precision = Precision::BF16;
  if (!device.gemmEpilogues && !device.target.isCuda()) {
    printError(
        "--no-gemm-epilogues needs a cluster of GPUs; on the CPU kernels "
        "do it");
    return std::nullopt;
  }
  return options;
}
