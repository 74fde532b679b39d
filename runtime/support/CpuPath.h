//===- CpuPath.h - which instructions this process may use ------*- C++ -*-===//
// Kernels and the matrix library follow it, and so does the compiler.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_SUPPORT_CPUPATH_H
#define TESSERA_RUNTIME_SUPPORT_CPUPATH_H

#include <string>

namespace tessera {

/// The paths are ordered from the least to the most.
enum class CpuPath {
#define TSR_CPU_PATH(ENUMERATOR, NAME, CPU, FEATURES) ENUMERATOR,
#include "tessera/abi_cpu.def"
#undef TSR_CPU_PATH
};

constexpr const char *kCpuVariable = "TESSERA_CPU";

const char *nameOf(CpuPath path);
/// Returns the most that this processor can.
CpuPath bestCpuPath();
/// Returns whether TESSERA_CPU names a path that this processor has.
bool isCpuPathChosen();
/// Returns the path that TESSERA_CPU names, or the best; it never changes in a
/// process.
CpuPath cpuPath();
/// Says what is wrong with TESSERA_CPU, or returns "". If something is, the
/// path is the best.
std::string cpuPathProblem();

} // namespace tessera

#endif // TESSERA_RUNTIME_SUPPORT_CPUPATH_H
