//===- Bf16Backward.cu - Instances for bf16, backward ---------------------===//

#include "runtime/cuda/attention/Bf16Backward.h"
#include "runtime/cuda/attention/Launch.cuh"
#include "runtime/cuda/attention/RowDot.h"

namespace tessera::cuda {

#define INSTANCE(...)                                                          \
  template cudaError_t CudaLaunch::launch<__VA_ARGS__>(                        \
      const AttentionParams &, cudaStream_t)
INSTANCE(RowDot<uint16_t>);
#define INSTANCES(FORM)                                                        \
  INSTANCE(Bf16Backward<64, Side::Queries, false, Form::FORM>);                \
  INSTANCE(Bf16Backward<64, Side::Queries, true, Form::FORM>);                 \
  INSTANCE(Bf16Backward<64, Side::Keys, false, Form::FORM>);                   \
  INSTANCE(Bf16Backward<64, Side::Keys, true, Form::FORM>);                    \
  INSTANCE(Bf16Backward<128, Side::Queries, false, Form::FORM>);               \
  INSTANCE(Bf16Backward<128, Side::Queries, true, Form::FORM>);                \
  INSTANCE(Bf16Backward<128, Side::Keys, false, Form::FORM>);                  \
  INSTANCE(Bf16Backward<128, Side::Keys, true, Form::FORM>)
INSTANCES(Plain);
INSTANCES(Biased);
INSTANCES(Slice);
INSTANCES(Masked);
INSTANCES(MaskedBiased);
INSTANCES(MaskedSlice);

} // namespace tessera::cuda
