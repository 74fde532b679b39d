#include "runtime/cuda/CudaDevice.h"

#include "runtime/cuda/Check.h"
#include "runtime/cuda/step/CudaRank.h"

#include <algorithm>

namespace tessera::cuda {

namespace {
int deviceCount() {
  int devices = 0;
  cuda::check(cudaGetDeviceCount(&devices), "counting GPUs");
  return devices;
}

/// Bytes that a rank takes as far as they are known before its program is
/// walked.
int64_t bytesOfRank(const DeviceRequest &request) {
  int64_t workspace = productWorkspaceBytes;
  if (const tsr_abi_device_image *image = request.code.image())
    workspace = std::max(workspace, image->workspace_bytes);
  return request.metadata.arenaBytes + workspace;
}

void checkMemory(const DeviceRequest &request, int device, int64_t ranks) {
  size_t available = 0, total = 0;
  cuda::check(cudaSetDevice(device), "choosing a GPU");
  cuda::check(cudaMemGetInfo(&available, &total), "asking for free memory");
  int64_t each = bytesOfRank(request);
  if (each <= static_cast<int64_t>(available) / ranks)
    return;
  fail(TSR_OUT_OF_MEMORY, "GPU ", device, " needs ", ranks, " x ", each,
       " bytes for its rank", ranks == 1 ? "" : "s", " (arena ",
       request.metadata.arenaBytes, ", workspace ",
       each - request.metadata.arenaBytes, "), ", available, " of ", total,
       " are free; the arena holds ", request.metadata.describeArena(),
       "; use a smaller batch, recomputation, --zero 1 or more GPUs");
}
} // namespace

void CudaDevice::check(const DeviceRequest &request) const {
  if (std::string problem = driverProblem(); !problem.empty())
    fail(TSR_UNSUPPORTED, "device 'cuda': ", problem);
  int devices = deviceCount();
  if (request.communicator == "nccl")
    checkNccl(request.ranks, devices);
  else if (request.communicator != "threads")
    fail(TSR_UNSUPPORTED, "communicator '", request.communicator,
         "' is not in device 'cuda'; use 'threads' or 'nccl'");
  else if (!request.hasAllRanks())
    fail(TSR_UNSUPPORTED, "communicator 'threads' connects ranks of one "
                          "process, here each has its own; use 'nccl'");
  std::map<int, int64_t> ranksOf;
  for (int64_t i = 0; i < request.ranks.count; ++i)
    ++ranksOf[static_cast<int>((request.ranks.first + i) % devices)];
  for (auto [device, ranks] : ranksOf)
    checkMemory(request, device, ranks);
}

std::shared_ptr<Image> CudaDevice::imageOf(int device, const Code &code) {
  if (!code.image())
    return nullptr;
  std::lock_guard<std::mutex> lock(mutex);
  std::weak_ptr<Image> &slot = images[{device, code.image()}];
  std::shared_ptr<Image> image = slot.lock();
  if (!image) {
    image = std::make_shared<Image>(*code.image());
    slot = image;
  }
  return image;
}

std::unique_ptr<DeviceRank> CudaDevice::openRank(Rank &rank) {
  int device = static_cast<int>(rank.localNumber % deviceCount());
  cuda::check(cudaSetDevice(device), "choosing a GPU");
  return std::make_unique<CudaRank>(rank, device, imageOf(device, *rank.code));
}

} // namespace tessera::cuda
