//===- TargetBaseline.cpp - Kernels for the compiler's baseline -----------===//

#define TESSERA_CPU_TARGET baseline
#include "runtime/cpu/TargetKernels.h"
