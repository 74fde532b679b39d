//===- Launch.cpp - Runs a fused kernel on a rank's threads ---------------===//

#include "CpuEntries.h"

#include <omp.h>

void tessera::cpuLaunch(int threads, tsr_abi_kernel kernel,
                        void *const *buffers, const int64_t *scalars,
                        int64_t count, int64_t grain) {
  if (count <= 0)
    return;
  if (grain < 1)
    grain = 1;
  const int64_t blocks = (count - 1) / grain + 1;
  const int64_t wanted = blocks < threads ? blocks : threads;
  if (wanted <= 1)
    return kernel(buffers, scalars, 0, count);

#pragma omp parallel num_threads(static_cast <int>(wanted))
  {
    // The team may be smaller than asked for.
    const int64_t parts = omp_get_num_threads();
    const int64_t part = omp_get_thread_num();
    const int64_t begin = blocks * part / parts * grain;
    int64_t end = blocks * (part + 1) / parts * grain;
    end = end < count ? end : count;
    if (begin < end)
      kernel(buffers, scalars, begin, end);
  }
}
