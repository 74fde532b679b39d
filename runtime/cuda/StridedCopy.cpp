#include "runtime/cuda/StridedCopy.h"

namespace tessera::cuda {

// The most that every device accepts as the pitch of a copy.
static constexpr int64_t mostPitch = INT32_MAX;

static bool isPitch(int64_t stride, int64_t bytes) {
  return stride >= bytes && stride <= mostPitch;
}

void copyRows(const RowCopy &c, cudaStream_t stream) {
  if (c.rows <= 0 || c.bytes <= 0)
    return;
  if (c.rows == 1 || (c.srcStride == c.bytes && c.dstStride == c.bytes))
    return check(cudaMemcpyAsync(c.dst, c.src, c.rows * c.bytes,
                                 cudaMemcpyDefault, stream),
                 "copying");
  if (isPitch(c.srcStride, c.bytes) && isPitch(c.dstStride, c.bytes))
    return check(cudaMemcpy2DAsync(c.dst, c.dstStride, c.src, c.srcStride,
                                   c.bytes, c.rows, cudaMemcpyDefault, stream),
                 "copying rows");
  for (int64_t row = 0; row < c.rows; ++row)
    check(cudaMemcpyAsync(static_cast<char *>(c.dst) + row * c.dstStride,
                          static_cast<const char *>(c.src) + row * c.srcStride,
                          c.bytes, cudaMemcpyDefault, stream),
          "copying a row");
}

} // namespace tessera::cuda
