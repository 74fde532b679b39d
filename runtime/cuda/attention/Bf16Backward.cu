//===- Bf16Backward.cu - Instances for bf16, backward ---------------------===//

#include "runtime/cuda/attention/Bf16Backward.h"
#include "runtime/cuda/attention/Launch.cuh"
#include "runtime/cuda/attention/RowDot.h"

namespace tessera::cuda {

#define INSTANCE(...)                                                          \
  template cudaError_t CudaLaunch::launch<__VA_ARGS__>(                        \
      const AttentionParams &, cudaStream_t)
INSTANCE(RowDot<uint16_t>);
INSTANCE(Bf16Backward<64, Side::Queries, false, Form::Plain>);
INSTANCE(Bf16Backward<64, Side::Queries, true, Form::Plain>);
INSTANCE(Bf16Backward<64, Side::Keys, false, Form::Plain>);
INSTANCE(Bf16Backward<64, Side::Keys, true, Form::Plain>);
INSTANCE(Bf16Backward<128, Side::Queries, false, Form::Plain>);
INSTANCE(Bf16Backward<128, Side::Queries, true, Form::Plain>);
INSTANCE(Bf16Backward<128, Side::Keys, false, Form::Plain>);
INSTANCE(Bf16Backward<128, Side::Keys, true, Form::Plain>);
INSTANCE(Bf16Backward<64, Side::Queries, false, Form::Biased>);
INSTANCE(Bf16Backward<64, Side::Queries, true, Form::Biased>);
INSTANCE(Bf16Backward<64, Side::Keys, false, Form::Biased>);
INSTANCE(Bf16Backward<64, Side::Keys, true, Form::Biased>);
INSTANCE(Bf16Backward<128, Side::Queries, false, Form::Biased>);
INSTANCE(Bf16Backward<128, Side::Queries, true, Form::Biased>);
INSTANCE(Bf16Backward<128, Side::Keys, false, Form::Biased>);
INSTANCE(Bf16Backward<128, Side::Keys, true, Form::Biased>);
INSTANCE(Bf16Backward<64, Side::Queries, false, Form::Slice>);
INSTANCE(Bf16Backward<64, Side::Queries, true, Form::Slice>);
INSTANCE(Bf16Backward<64, Side::Keys, false, Form::Slice>);
INSTANCE(Bf16Backward<64, Side::Keys, true, Form::Slice>);
INSTANCE(Bf16Backward<128, Side::Queries, false, Form::Slice>);
INSTANCE(Bf16Backward<128, Side::Queries, true, Form::Slice>);
INSTANCE(Bf16Backward<128, Side::Keys, false, Form::Slice>);
INSTANCE(Bf16Backward<128, Side::Keys, true, Form::Slice>);
INSTANCE(Bf16Backward<64, Side::Queries, false, Form::Masked>);
INSTANCE(Bf16Backward<64, Side::Queries, true, Form::Masked>);
INSTANCE(Bf16Backward<64, Side::Keys, false, Form::Masked>);
INSTANCE(Bf16Backward<64, Side::Keys, true, Form::Masked>);
INSTANCE(Bf16Backward<128, Side::Queries, false, Form::Masked>);
INSTANCE(Bf16Backward<128, Side::Queries, true, Form::Masked>);
INSTANCE(Bf16Backward<128, Side::Keys, false, Form::Masked>);
INSTANCE(Bf16Backward<128, Side::Keys, true, Form::Masked>);
INSTANCE(Bf16Backward<64, Side::Queries, false, Form::MaskedBiased>);
INSTANCE(Bf16Backward<64, Side::Queries, true, Form::MaskedBiased>);
INSTANCE(Bf16Backward<64, Side::Keys, false, Form::MaskedBiased>);
INSTANCE(Bf16Backward<64, Side::Keys, true, Form::MaskedBiased>);
INSTANCE(Bf16Backward<128, Side::Queries, false, Form::MaskedBiased>);
INSTANCE(Bf16Backward<128, Side::Queries, true, Form::MaskedBiased>);
INSTANCE(Bf16Backward<128, Side::Keys, false, Form::MaskedBiased>);
INSTANCE(Bf16Backward<128, Side::Keys, true, Form::MaskedBiased>);
INSTANCE(Bf16Backward<64, Side::Queries, false, Form::MaskedSlice>);
INSTANCE(Bf16Backward<64, Side::Queries, true, Form::MaskedSlice>);
INSTANCE(Bf16Backward<64, Side::Keys, false, Form::MaskedSlice>);
INSTANCE(Bf16Backward<64, Side::Keys, true, Form::MaskedSlice>);
INSTANCE(Bf16Backward<128, Side::Queries, false, Form::MaskedSlice>);
INSTANCE(Bf16Backward<128, Side::Queries, true, Form::MaskedSlice>);
INSTANCE(Bf16Backward<128, Side::Keys, false, Form::MaskedSlice>);
INSTANCE(Bf16Backward<128, Side::Keys, true, Form::MaskedSlice>);

} // namespace tessera::cuda
