//===- StandInIntegers.cpp - the kernel that widens integers, on the host -===//
// The kernel's own code, element by element, in stream order.

#include "runtime/cuda/products/MatrixProducts.h"
#include "runtime/cuda/products/ProductElements.h"
#include "test/Runtime/cuda/StandInStream.h"

namespace tessera::cuda {

template <class T, int N>
static void widenAll(const Integers &integers, void *to) {
  for (int64_t i = 0; i < integers.rows * integers.columns / N; ++i)
    widenIntegersOf<T, N>(integers, static_cast<T *>(to), i);
}

template <class T> static void widenAll(const Integers &integers, void *to) {
  if (integers.inPieces())
    widenAll<T, 4>(integers, to);
  else
    widenAll<T, 1>(integers, to);
}

cudaError_t widenIntegers(const Integers &integers, int64_t dtype, void *to,
                          cudaStream_t stream) {
  stream->push([=] {
    if (dtype == TSR_DTYPE_BF16)
      widenAll<Bf16>(integers, to);
    else
      widenAll<float>(integers, to);
  });
  return cudaSuccess;
}

} // namespace tessera::cuda
