//===- StridedCopy.h - strided copies on a stream ---------------*- C++ -*-===//
#ifndef TESSERA_RUNTIME_CUDA_STRIDEDCOPY_H
#define TESSERA_RUNTIME_CUDA_STRIDEDCOPY_H

#include "runtime/cuda/Check.h"

#include <cstdint>

namespace tessera::cuda {

/// Row i of `rows` rows of `bytes` from src + i * srcStride to dst + i *
/// dstStride, in bytes; also between GPUs.
struct RowCopy {
  int64_t rows, bytes;
  const void *src;
  int64_t srcStride;
  void *dst;
  int64_t dstStride;
};
void copyRows(const RowCopy &copy, cudaStream_t stream);

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_STRIDEDCOPY_H
