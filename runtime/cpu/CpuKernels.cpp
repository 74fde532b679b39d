//===- CpuKernels.cpp - Chooses the kernels for this processor ------------===//

#include "runtime/cpu/CpuKernels.h"
#include "runtime/cpu/GemmProblem.h"

#include <atomic>

using namespace tessera;

static CpuTarget targetOf(CpuPath path) {
  return path >= CpuPath::Avx512 ? CpuTarget::Avx512
         : path == CpuPath::Avx2 ? CpuTarget::Avx2
                                 : CpuTarget::Baseline;
}

CpuTarget tessera::bestCpuTarget() { return targetOf(cpuPath()); }

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

static std::atomic<bool> &libraryUse() {
  static std::atomic<bool> isUsed{true};
  return isUsed;
}

bool tessera::usesLibrary() {
  return libraryUse().load(std::memory_order_relaxed);
}

void tessera::shareCpuPath(CpuPath most) {
  setCpuTarget(targetOf(most));
  libraryUse().store(false);
}
