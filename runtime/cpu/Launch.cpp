//===- Launch.cpp - Runs a fused kernel on a rank's threads ---------------===//

#include "runtime/cpu/CpuEntries.h"
#include "runtime/support/ThreadTeam.h"

void tessera::cpuLaunch(int threads, tsr_abi_kernel kernel,
                        void *const *buffers, const int64_t *scalars,
                        int64_t count, int64_t grain) {
  if (count <= 0)
    return;
  if (grain < 1)
    grain = 1;
  const int64_t blocks = (count - 1) / grain + 1;
  const int64_t parts = blocks < threads ? blocks : threads;
  if (parts <= 1)
    return kernel(buffers, scalars, 0, count);

  inParallel(static_cast<int>(parts), [&](int64_t part) {
    const int64_t begin = blocks * part / parts * grain;
    const int64_t end = blocks * (part + 1) / parts * grain;
    if (begin < end)
      kernel(buffers, scalars, begin, end < count ? end : count);
  });
}
