//===- StandIn.cpp - as much of CUDA as the device calls, on the host -----===//
// Linked in CUDA's place, it lets the tests of test/Runtime/cuda run the
// device's host code without a GPU: order between streams, captured steps,
// errors. It says nothing about kernels, libraries or the real driver.

#include "test/Runtime/cuda/StandInControl.h"
#include "test/Runtime/cuda/StandInStream.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <sys/mman.h>

std::atomic<int> standInDevices{2}; // ranks lie on several
std::atomic<int> standInMajor{9};
std::atomic<int> standInLaunches{0};
std::atomic<int> standInAllocations{0};

namespace {
std::mutex mutex;
/// Shared with who waits for all streams while one of them is destroyed.
std::map<CUstream_st *, std::shared_ptr<CUstream_st>> streams;
std::map<const char *, size_t> pinned; ///< with its bytes

size_t memoryBytes() { return size_t(1) << (standInIsIdle() ? 38 : 34); }

bool isPinned(const char *memory) {
  std::lock_guard<std::mutex> lock(mutex);
  auto behind = pinned.upper_bound(memory);
  if (behind == pinned.begin())
    return false;
  auto [base, bytes] = *std::prev(behind);
  return memory < base + bytes;
}

void copy(void *dst, const void *src, size_t bytes, cudaMemcpyKind kind,
          cudaStream_t stream) {
  auto *from = static_cast<const char *>(src);
  if (kind != cudaMemcpyHostToDevice || isPinned(from))
    return stream->push([=] { std::memcpy(dst, src, bytes); });
  // Pageable memory has been read when the call returns, by the host: that of
  // an idle GPU does so, too.
  std::vector<char> staged(from, from + bytes);
  stream->push([=] { std::memcpy(dst, staged.data(), bytes); });
}
} // namespace

struct CUgraph_st {
  WorkList work;
};
struct CUgraphExec_st {
  WorkList work;
};

cudaError_t cudaDriverGetVersion(int *version) {
  *version = 13000;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int *version) {
  *version = 13000;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int *count) {
  *count = standInDevices;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int) { return cudaSuccess; }
cudaError_t cudaGetDevice(int *device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int) {
  *value =
      attribute == cudaDevAttrComputeCapabilityMajor ? standInMajor.load() : 0;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device) {
  properties->uuid.bytes[0] = static_cast<char>(device + 1);
  std::strcpy(properties->name, "stand-in");
  properties->major = standInMajor;
  properties->minor = 0;
  properties->multiProcessorCount = 132;
  properties->totalGlobalMem = memoryBytes();
  return cudaSuccess;
}
cudaError_t cudaDeviceCanAccessPeer(int *can, int, int) {
  *can = 1;
  return cudaSuccess;
}
cudaError_t cudaDeviceEnablePeerAccess(int, unsigned int) {
  return cudaErrorPeerAccessAlreadyEnabled;
}
const char *cudaGetErrorName(cudaError_t) { return "cudaErrorStandIn"; }
const char *cudaGetErrorString(cudaError_t) { return "stand-in error"; }
cudaError_t cudaGetLastError() { return cudaSuccess; }

cudaError_t cudaMemGetInfo(size_t *available, size_t *total) {
  *available = *total = memoryBytes();
  return cudaSuccess;
}
cudaError_t cudaMalloc(void **memory, size_t bytes) {
  ++standInAllocations;
  if (standInIsIdle()) { // zero, and not there before it is used
    *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return *memory == MAP_FAILED ? cudaErrorMemoryAllocation : cudaSuccess;
  }
  *memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  std::memset(*memory, 0xA5, std::min<size_t>(bytes, 1 << 20));
  return *memory ? cudaSuccess : cudaErrorMemoryAllocation;
}
cudaError_t cudaFree(void *memory) { // waits for the device, as CUDA's does
  decltype(streams) all;
  {
    std::lock_guard<std::mutex> lock(mutex);
    all = streams;
  }
  for (const auto &[pointer, stream] : all)
    if (memory && !stream->capture)
      stream->synchronize();
  if (!standInIsIdle())
    std::free(memory);
  return cudaSuccess;
}
cudaError_t cudaMallocHost(void **memory, size_t bytes) {
  *memory = std::malloc(bytes);
  std::lock_guard<std::mutex> lock(mutex);
  pinned[static_cast<char *>(*memory)] = bytes;
  return cudaSuccess;
}
cudaError_t cudaFreeHost(void *memory) {
  std::lock_guard<std::mutex> lock(mutex);
  pinned.erase(static_cast<char *>(memory));
  std::free(memory);
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t bytes,
                            cudaMemcpyKind kind, cudaStream_t stream) {
  copy(dst, src, bytes, kind, stream);
  return cudaSuccess;
}
cudaError_t cudaMemcpy2DAsync(void *dst, size_t dstPitch, const void *src,
                              size_t srcPitch, size_t width, size_t height,
                              cudaMemcpyKind, cudaStream_t stream) {
  if (width > dstPitch || width > srcPitch)
    return cudaErrorInvalidPitchValue;
  stream->push([=] {
    for (size_t row = 0; row < height; ++row)
      std::memcpy(static_cast<char *>(dst) + row * dstPitch,
                  static_cast<const char *>(src) + row * srcPitch, width);
  });
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void *memory, int value, size_t bytes,
                            cudaStream_t stream) {
  stream->push([=] { std::memset(memory, value, bytes); });
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int) {
  auto made = std::make_shared<CUstream_st>();
  *stream = made.get();
  std::lock_guard<std::mutex> lock(mutex);
  streams.emplace(made.get(), made);
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  std::shared_ptr<CUstream_st> last;
  std::lock_guard<std::mutex> lock(mutex);
  if (auto known = streams.find(stream); known != streams.end()) {
    last = known->second; // ends behind the lock
    streams.erase(known);
  }
  return cudaSuccess;
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return stream->isIdle() ? cudaSuccess : cudaErrorNotReady;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  if (stream->capture)
    return cudaErrorStreamCaptureUnsupported;
  stream->synchronize();
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event,
                                unsigned int) {
  if (event->capture) // the list is in order
    stream->capture = event->capture;
  else if (auto flag = event->latest)
    stream->push([flag] { flag->wait(); });
  return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags) {
  *event = new CUevent_st;
  (*event)->isTimed = !(flags & cudaEventDisableTiming);
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  event->capture = stream->capture;
  if (stream->capture)
    return cudaSuccess;
  auto flag = std::make_shared<Flag>();
  event->latest = flag;
  if (standInIsIdle() && event->isTimed)
    flag->set(); // an idle GPU is done when it is asked
  stream->push([flag] { flag->set(); });
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  if (auto flag = event->latest; flag && !standInIsIdle())
    flag->wait();
  return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start,
                                 cudaEvent_t end) {
  auto time = end->latest->setAt() - start->latest->setAt();
  *milliseconds = std::chrono::duration<float, std::milli>(time).count();
  return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  stream->capture = stream;
  stream->captured.clear();
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph) {
  std::lock_guard<std::mutex> lock(mutex);
  for (const auto &[joined, owner] : streams)
    if (joined->capture == stream)
      joined->capture = nullptr;
  *graph = new CUgraph_st{std::move(stream->captured)};
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *executable, cudaGraph_t graph,
                                 unsigned long long) {
  *executable = new CUgraphExec_st{graph->work};
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  delete executable;
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  if (standInIsIdle())
    return cudaSuccess;
  for (const Work &work : executable->work)
    stream->push(work);
  return cudaSuccess;
}
