//===- Bf16Forward.cu - Instances for bf16, forward -----------------------===//

#include "runtime/cuda/attention/Bf16Forward.h"
#include "runtime/cuda/attention/Launch.cuh"

namespace tessera::cuda {

#define INSTANCE(...)                                                          \
  template cudaError_t CudaLaunch::launch<__VA_ARGS__>(                        \
      const AttentionParams &, cudaStream_t)
INSTANCE(Bf16Forward<64, false, Form::Plain>);
INSTANCE(Bf16Forward<64, true, Form::Plain>);
INSTANCE(Bf16Forward<128, false, Form::Plain>);
INSTANCE(Bf16Forward<128, true, Form::Plain>);
INSTANCE(Bf16Forward<64, false, Form::Biased>);
INSTANCE(Bf16Forward<64, true, Form::Biased>);
INSTANCE(Bf16Forward<128, false, Form::Biased>);
INSTANCE(Bf16Forward<128, true, Form::Biased>);
INSTANCE(Bf16Forward<64, false, Form::Slice>);
INSTANCE(Bf16Forward<64, true, Form::Slice>);
INSTANCE(Bf16Forward<128, false, Form::Slice>);
INSTANCE(Bf16Forward<128, true, Form::Slice>);
INSTANCE(Bf16Forward<64, false, Form::Masked>);
INSTANCE(Bf16Forward<64, true, Form::Masked>);
INSTANCE(Bf16Forward<128, false, Form::Masked>);
INSTANCE(Bf16Forward<128, true, Form::Masked>);
INSTANCE(Bf16Forward<64, false, Form::MaskedBiased>);
INSTANCE(Bf16Forward<64, true, Form::MaskedBiased>);
INSTANCE(Bf16Forward<128, false, Form::MaskedBiased>);
INSTANCE(Bf16Forward<128, true, Form::MaskedBiased>);
INSTANCE(Bf16Forward<64, false, Form::MaskedSlice>);
INSTANCE(Bf16Forward<64, true, Form::MaskedSlice>);
INSTANCE(Bf16Forward<128, false, Form::MaskedSlice>);
INSTANCE(Bf16Forward<128, true, Form::MaskedSlice>);

} // namespace tessera::cuda
