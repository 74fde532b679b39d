#include "runtime/cuda/DeviceMemory.h"

namespace tessera::cuda {

DeviceMemory::~DeviceMemory() {
  if (base)
    cudaFree(base);
}

void DeviceMemory::allocate(int64_t size, const char *what) {
  if (base)
    check(cudaFree(base), "freeing memory");
  base = nullptr;
  bytes = 0;
  if (size <= 0)
    return;
  void *memory = nullptr;
  cudaError_t error = cudaMalloc(&memory, static_cast<size_t>(size));
  if (error == cudaErrorMemoryAllocation) {
    size_t available = 0, total = 0;
    cudaGetLastError(); // it would be the next call's
    cudaMemGetInfo(&available, &total);
    fail(TSR_OUT_OF_MEMORY, "the GPU cannot give ", size, " bytes for the ",
         what, ": ", available, " of ", total,
         " are free; use a smaller batch, recomputation or more GPUs");
  }
  check(error, "allocating memory");
  base = static_cast<unsigned char *>(memory);
  bytes = size;
}

PinnedMemory::~PinnedMemory() {
  if (base)
    cudaFreeHost(base);
}

void PinnedMemory::allocate(int64_t size) {
  if (base)
    check(cudaFreeHost(base), "freeing pinned host memory");
  base = nullptr;
  check(cudaMallocHost(&base, static_cast<size_t>(size)),
        "allocating pinned host memory");
}

Event::Event(Kind kind) {
  check(cudaEventCreateWithFlags(&event, kind == Kind::Time
                                             ? cudaEventDefault
                                             : cudaEventDisableTiming),
        "creating an event");
}

void Event::record(cudaStream_t stream) const {
  check(cudaEventRecord(event, stream), "recording an event");
}

void Event::wait() const {
  check(cudaEventSynchronize(event), "waiting for an event");
}

Stream::Stream() {
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking),
        "creating a stream");
}

} // namespace tessera::cuda
