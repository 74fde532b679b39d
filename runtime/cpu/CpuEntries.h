//===- CpuEntries.h - compute entries of the CPU device
//-----------------------===
// The seam between the runtime core (src/) and the CPU kernels (cpu). Buffers
// and arguments are those of abi.h. The functions return 0, or non-zero with
// *error filled; they use at most `threads` threads.
//===------------------------------------------------------------------------===
#ifndef TESSERA_RUNTIME_CPU_CPUENTRIES_H
#define TESSERA_RUNTIME_CPU_CPUENTRIES_H

#include "tessera/abi.h"

#include <cstdint>
#include <string>

namespace tessera {

int32_t cpuGemm(int threads, void *const *buffers, const int64_t *args,
                std::string *error);
int32_t cpuAttention(int threads, void *const *buffers, const int64_t *args,
                     std::string *error);
int32_t cpuAttentionBackward(int threads, void *const *buffers,
                             const int64_t *args, std::string *error);
int32_t cpuScatterAdd(int threads, void *const *buffers, const int64_t *args,
                      std::string *error);
void cpuLaunch(int threads, tsr_abi_kernel kernel, void *const *buffers,
               const int64_t *scalars, int64_t count, int64_t grain);

} // namespace tessera

#endif // TESSERA_RUNTIME_CPU_CPUENTRIES_H
