//===- Emulator.h - Grids of our kernels on a CPU ---------------*- C++ -*-===//
#ifndef TESSERA_TEST_RUNTIME_CUDA_ATTENTION_EMULATOR_H
#define TESSERA_TEST_RUNTIME_CUDA_ATTENTION_EMULATOR_H

#include "runtime/cuda/attention/TileView.h"
#include "test/Runtime/cuda/attention/HostExec.h"

namespace tessera::test {

/// A launcher for KernelTable.h and RoutedTable.h; its status is the first
/// defect found.
struct Emulator {
  using Status = std::string;
  Order order = Order::Forward;

  template <typename Kernel, typename Params>
  Status run(const Params &p) const {
    const cuda::Grid grid = Kernel::grid(p);
    HostBlock block(Kernel::kThreads, Kernel::kSharedBytes, order);
    for (int z = 0; z < grid.z; ++z)
      for (int y = 0; y < grid.y; ++y)
        for (int x = 0; x < grid.x; ++x) {
          std::string defect = block.run({x, y, z}, [&](unsigned char *shared) {
            Kernel::template run<HostExec>(p, shared);
          });
          if (!defect.empty())
            return defect;
        }
    return "";
  }
};

} // namespace tessera::test

#endif // TESSERA_TEST_RUNTIME_CUDA_ATTENTION_EMULATOR_H
