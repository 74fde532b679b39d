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
#define INSTANCES(FORM)                                                        \
  INSTANCE(F32Forward<32, Form::FORM>);                                        \
  INSTANCE(F32Forward<64, Form::FORM>);                                        \
  INSTANCE(F32Forward<128, Form::FORM>);                                       \
  INSTANCE(F32Backward<32, Side::Queries, Form::FORM>);                        \
  INSTANCE(F32Backward<64, Side::Queries, Form::FORM>);                        \
  INSTANCE(F32Backward<128, Side::Queries, Form::FORM>);                       \
  INSTANCE(F32Backward<32, Side::Keys, Form::FORM>);                           \
  INSTANCE(F32Backward<64, Side::Keys, Form::FORM>);                           \
  INSTANCE(F32Backward<128, Side::Keys, Form::FORM>)
INSTANCES(Plain);
INSTANCES(Biased);
INSTANCES(Slice);
INSTANCES(Masked);
INSTANCES(MaskedBiased);
INSTANCES(MaskedSlice);

} // namespace tessera::cuda
