//===- CpuIdentity.h - what the bits of a process depend on -----*- C++ -*-===//
#ifndef TESSERA_RUNTIME_CPU_CPUIDENTITY_H
#define TESSERA_RUNTIME_CPU_CPUIDENTITY_H

#include <string>

namespace tessera {

/// Two processes with the same text compile the same code, take the same
/// kernels, and get the same bits from the matrix library, whose blocks follow
/// from instructions and caches.
std::string cpuIdentity();

} // namespace tessera

#endif // TESSERA_RUNTIME_CPU_CPUIDENTITY_H
