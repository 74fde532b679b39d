//===- TargetAvx512.cpp - Kernels for AVX-512 -----------------------------===//

#define TESSERA_CPU_TARGET avx512
#include "runtime/cpu/TargetKernels.h"
