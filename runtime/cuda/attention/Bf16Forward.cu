//===- Bf16Forward.cu - Instances for bf16, forward -----------------------===//

#include "runtime/cuda/attention/Bf16Forward.h"
#include "runtime/cuda/attention/Launch.cuh"

namespace tessera::cuda {

#define INSTANCE(...)                                                          \
  template cudaError_t CudaLaunch::launch<__VA_ARGS__>(                        \
      const AttentionParams &, cudaStream_t)
#define INSTANCES(FORM)                                                        \
  INSTANCE(Bf16Forward<64, false, Form::FORM>);                                \
  INSTANCE(Bf16Forward<64, true, Form::FORM>);                                 \
  INSTANCE(Bf16Forward<128, false, Form::FORM>);                               \
  INSTANCE(Bf16Forward<128, true, Form::FORM>)
INSTANCES(Plain);
INSTANCES(Biased);
INSTANCES(Slice);
INSTANCES(Masked);
INSTANCES(MaskedBiased);
INSTANCES(MaskedSlice);

} // namespace tessera::cuda
