#include "runtime/cuda/Check.h"

namespace tessera::cuda {

std::string errorText(cudaError_t error) {
  return concat(cudaGetErrorString(error), " (", cudaGetErrorName(error), ")");
}

Status statusOf(cudaError_t error, const char *what) {
  if (error == cudaSuccess)
    return {};
  tsr_status code =
      error == cudaErrorMemoryAllocation ? TSR_OUT_OF_MEMORY : TSR_INTERNAL;
  return {code, concat("cuda: ", what, ": ", errorText(error))};
}

void check(cudaError_t error, const char *what) {
  if (error != cudaSuccess)
    throw Error(statusOf(error, what));
}

} // namespace tessera::cuda
