//===- CpuKernels.cpp - Chooses the kernels for this processor ------------===//

#include "runtime/cpu/CpuKernels.h"

#include <atomic>

using namespace tessera;

CpuTarget tessera::bestCpuTarget() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    return CpuTarget::Avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return CpuTarget::Avx2;
#endif
  return CpuTarget::Baseline;
}

static const CpuKernels *kernelsOf(CpuTarget target) {
  switch (target) {
#if defined(__x86_64__)
  case CpuTarget::Avx512:
    return &avx512::kernels;
  case CpuTarget::Avx2:
    return &avx2::kernels;
#endif
  default:
    return &baseline::kernels;
  }
}

static std::atomic<const CpuKernels *> &current() {
  static std::atomic<const CpuKernels *> kernels{kernelsOf(bestCpuTarget())};
  return kernels;
}

const CpuKernels &tessera::cpuKernels() {
  return *current().load(std::memory_order_relaxed);
}

void tessera::setCpuTarget(CpuTarget target) {
  current().store(
      kernelsOf(target < bestCpuTarget() ? target : bestCpuTarget()));
}
