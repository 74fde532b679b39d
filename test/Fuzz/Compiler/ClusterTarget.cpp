//===- ClusterTarget.cpp - a file of clusters/ ----------------------------===//
#include "test/Fuzz/Input.h"

#include "tessera/Simulate/Cluster.h"
#include "llvm/Support/Error.h"

using namespace tessera::simulate;
using namespace fuzzed;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  MemoryFile file({reinterpret_cast<const char *>(data), size});
  llvm::Expected<Cluster> cluster = readCluster(file.path());
  if (!cluster) {
    std::string why = llvm::toString(cluster.takeError());
    require(why.find(file.path()) != std::string::npos,
            "a refusal names the file");
    return 0;
  }
  for (const auto &[precision, rate] : cluster->device.products)
    require(rate.peak > 0 && rate.efficiency > 0 && !rate.tiles.empty(),
            "a rate is one to divide by");
  return 0;
}
