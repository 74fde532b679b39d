//===- CpuPath.h - which instructions this process may use ------*- C++ -*-===//
// Kernels and the matrix library follow it, and so does the compiler.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_SUPPORT_CPUPATH_H
#define TESSERA_RUNTIME_SUPPORT_CPUPATH_H

#include <string>

namespace tessera {

/// From the least to the most.
enum class CpuPath {
#define TSR_CPU_PATH(ENUMERATOR, NAME, CPU, FEATURES) ENUMERATOR,
#include "tessera/abi_cpu.def"
#undef TSR_CPU_PATH
};

constexpr const char *kCpuVariable = "TESSERA_CPU";

const char *nameOf(CpuPath path);
/// The most that this processor can.
CpuPath bestCpuPath();
/// Whether TESSERA_CPU names a path.
bool isCpuPathChosen();
/// What TESSERA_CPU names, or the best; the same in the whole process.
CpuPath cpuPath();
/// What is wrong with TESSERA_CPU; "": nothing. The path is then the best.
std::string cpuPathProblem();

} // namespace tessera

#endif // TESSERA_RUNTIME_SUPPORT_CPUPATH_H
