//===- TargetAvx2.cpp - Kernels for AVX2 ----------------------------------===//

#define TESSERA_CPU_TARGET avx2
#include "runtime/cpu/TargetKernels.h"
