//===- F32Kernels.cu - Instances for f32 ----------------------------------===//

#include "F32Backward.h"
#include "F32Forward.h"
#include "Launch.cuh"
#include "RowDot.h"

namespace tessera::cuda {

#define INSTANCE(...)                                                          \
  template cudaError_t CudaLaunch::launch<__VA_ARGS__>(                        \
      const AttentionParams &, cudaStream_t)
INSTANCE(RowDot<float>);
INSTANCE(F32Forward<32>);
INSTANCE(F32Forward<64>);
INSTANCE(F32Forward<128>);
INSTANCE(F32Backward<32, Side::Queries>);
INSTANCE(F32Backward<64, Side::Queries>);
INSTANCE(F32Backward<128, Side::Queries>);
INSTANCE(F32Backward<32, Side::Keys>);
INSTANCE(F32Backward<64, Side::Keys>);
INSTANCE(F32Backward<128, Side::Keys>);

} // namespace tessera::cuda
