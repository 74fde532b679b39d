//===- CpuEntriesStub.cpp - in place of the CPU kernels until they are there
//---===
#include "../../runtime/cpu/CpuEntries.h"

namespace tessera {

static int32_t refuse(std::string *error) {
  *error = "this build has no CPU kernels";
  return 1;
}

int32_t cpuGemm(int, void *const *, const int64_t *, std::string *error) {
  return refuse(error);
}
int32_t cpuAttention(int, void *const *, const int64_t *, std::string *error) {
  return refuse(error);
}
int32_t cpuAttentionBackward(int, void *const *, const int64_t *,
                             std::string *error) {
  return refuse(error);
}
int32_t cpuScatterAdd(int, void *const *, const int64_t *, std::string *error) {
  return refuse(error);
}
void cpuLaunch(int, tsr_abi_kernel kernel, void *const *buffers,
               const int64_t *scalars, int64_t count, int64_t) {
  if (count > 0)
    kernel(buffers, scalars, 0, count);
}

} // namespace tessera
