//===- F32Kernels.cu - Instances for f32, and for biases ------------------===//

#include "runtime/cuda/attention/BiasKernels.h"
#include "runtime/cuda/attention/F32Backward.h"
#include "runtime/cuda/attention/F32Forward.h"
#include "runtime/cuda/attention/Launch.cuh"
#include "runtime/cuda/attention/RowDot.h"

namespace tessera::cuda {

#define INSTANCE(...)                                                          \
  template cudaError_t CudaLaunch::launch<__VA_ARGS__>(                        \
      const AttentionParams &, cudaStream_t)
INSTANCE(SpreadBias);
INSTANCE(GatherBias);
INSTANCE(RowDot<float>);
INSTANCE(F32Forward<32, Form::Plain>);
INSTANCE(F32Forward<64, Form::Plain>);
INSTANCE(F32Forward<128, Form::Plain>);
INSTANCE(F32Backward<32, Side::Queries, Form::Plain>);
INSTANCE(F32Backward<64, Side::Queries, Form::Plain>);
INSTANCE(F32Backward<128, Side::Queries, Form::Plain>);
INSTANCE(F32Backward<32, Side::Keys, Form::Plain>);
INSTANCE(F32Backward<64, Side::Keys, Form::Plain>);
INSTANCE(F32Backward<128, Side::Keys, Form::Plain>);
INSTANCE(F32Forward<32, Form::Biased>);
INSTANCE(F32Forward<64, Form::Biased>);
INSTANCE(F32Forward<128, Form::Biased>);
INSTANCE(F32Backward<32, Side::Queries, Form::Biased>);
INSTANCE(F32Backward<64, Side::Queries, Form::Biased>);
INSTANCE(F32Backward<128, Side::Queries, Form::Biased>);
INSTANCE(F32Backward<32, Side::Keys, Form::Biased>);
INSTANCE(F32Backward<64, Side::Keys, Form::Biased>);
INSTANCE(F32Backward<128, Side::Keys, Form::Biased>);
INSTANCE(F32Forward<32, Form::Slice>);
INSTANCE(F32Forward<64, Form::Slice>);
INSTANCE(F32Forward<128, Form::Slice>);
INSTANCE(F32Backward<32, Side::Queries, Form::Slice>);
INSTANCE(F32Backward<64, Side::Queries, Form::Slice>);
INSTANCE(F32Backward<128, Side::Queries, Form::Slice>);
INSTANCE(F32Backward<32, Side::Keys, Form::Slice>);
INSTANCE(F32Backward<64, Side::Keys, Form::Slice>);
INSTANCE(F32Backward<128, Side::Keys, Form::Slice>);
INSTANCE(F32Forward<32, Form::Masked>);
INSTANCE(F32Forward<64, Form::Masked>);
INSTANCE(F32Forward<128, Form::Masked>);
INSTANCE(F32Backward<32, Side::Queries, Form::Masked>);
INSTANCE(F32Backward<64, Side::Queries, Form::Masked>);
INSTANCE(F32Backward<128, Side::Queries, Form::Masked>);
INSTANCE(F32Backward<32, Side::Keys, Form::Masked>);
INSTANCE(F32Backward<64, Side::Keys, Form::Masked>);
INSTANCE(F32Backward<128, Side::Keys, Form::Masked>);
INSTANCE(F32Forward<32, Form::MaskedBiased>);
INSTANCE(F32Forward<64, Form::MaskedBiased>);
INSTANCE(F32Forward<128, Form::MaskedBiased>);
INSTANCE(F32Backward<32, Side::Queries, Form::MaskedBiased>);
INSTANCE(F32Backward<64, Side::Queries, Form::MaskedBiased>);
INSTANCE(F32Backward<128, Side::Queries, Form::MaskedBiased>);
INSTANCE(F32Backward<32, Side::Keys, Form::MaskedBiased>);
INSTANCE(F32Backward<64, Side::Keys, Form::MaskedBiased>);
INSTANCE(F32Backward<128, Side::Keys, Form::MaskedBiased>);
INSTANCE(F32Forward<32, Form::MaskedSlice>);
INSTANCE(F32Forward<64, Form::MaskedSlice>);
INSTANCE(F32Forward<128, Form::MaskedSlice>);
INSTANCE(F32Backward<32, Side::Queries, Form::MaskedSlice>);
INSTANCE(F32Backward<64, Side::Queries, Form::MaskedSlice>);
INSTANCE(F32Backward<128, Side::Queries, Form::MaskedSlice>);
INSTANCE(F32Backward<32, Side::Keys, Form::MaskedSlice>);
INSTANCE(F32Backward<64, Side::Keys, Form::MaskedSlice>);
INSTANCE(F32Backward<128, Side::Keys, Form::MaskedSlice>);

} // namespace tessera::cuda
