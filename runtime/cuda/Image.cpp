#include "runtime/cuda/Image.h"

#include "runtime/cuda/Check.h"

#include <cstring>
#include <vector>

namespace tessera::cuda {

namespace {
// A block may have this much without asking for more.
constexpr int64_t freeSharedBytes = 48 * 1024;
constexpr int64_t mostThreads = 1024;

std::string architecture() {
  int device = 0, major = 0, minor = 0;
  check(cudaGetDevice(&device), "asking for the device");
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
  return concat("sm_", major, minor);
}

/// Returns the words of `.target sm_80` in PTX, or "unknown".
std::string targetOf(const tsr_abi_device_image &image) {
  const char *at = std::strstr(image.ptx, ".target ");
  if (!at)
    return "unknown";
  at += std::strlen(".target ");
  return std::string(at, std::strcspn(at, ", \n\r\t"));
}
} // namespace

Image::Image(const tsr_abi_device_image &image) : driver(Driver::get()) {
  check(cudaFree(nullptr), "starting the GPU"); // makes the context current
  if (!loadCubin(image))
    loadPtx(image);
}

Image::~Image() {
  if (module)
    driver.moduleUnload(module);
}

bool Image::loadCubin(const tsr_abi_device_image &image) {
  if (!image.cubin || image.cubin_bytes <= 0)
    return false;
  CUresult result =
      driver.moduleLoadDataEx(&module, image.cubin, 0, nullptr, nullptr);
  if (result == CUDA_SUCCESS) {
    description = concat("code for ", architecture());
    return true;
  }
  module = nullptr;
  // The image is for another architecture, or from a newer toolkit than the
  // driver knows.
  if (result == CUDA_ERROR_NO_BINARY_FOR_GPU ||
      result == CUDA_ERROR_INVALID_IMAGE)
    return false;
  fail(TSR_INTERNAL,
       "cuda: loading the artifact's kernels: ", driver.errorText(result));
}

void Image::loadPtx(const tsr_abi_device_image &image) {
  if (!image.ptx || image.ptx_bytes <= 0 || image.ptx[image.ptx_bytes - 1] != 0)
    fail(TSR_UNSUPPORTED, "the artifact has no code for ", architecture(),
         " and no PTX; compile it with --device cuda:", architecture());
  char log[4096] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER,
                            CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {log, reinterpret_cast<void *>(sizeof log)};
  CUresult result =
      driver.moduleLoadDataEx(&module, image.ptx, 2, options, values);
  if (result == CUDA_SUCCESS) {
    description = concat("PTX of ", targetOf(image), " compiled by the driver",
                         image.cubin ? " (the artifact's code is for another "
                                       "GPU)"
                                     : " (the artifact has no code)");
    return;
  }
  module = nullptr;
  int version = 0;
  cudaDriverGetVersion(&version);
  bool isForOther = result == CUDA_ERROR_UNSUPPORTED_PTX_VERSION ||
                    result == CUDA_ERROR_NO_BINARY_FOR_GPU ||
                    result == CUDA_ERROR_INVALID_PTX;
  fail(isForOther ? TSR_UNSUPPORTED : TSR_CORRUPT, "the driver (CUDA ",
       versionText(version), ") cannot compile the artifact's PTX of ",
       targetOf(image), " for ", architecture(), ": ", driver.errorText(result),
       log[0] ? ": " : "", log,
       "; compile the model again for this GPU or install a newer driver");
}

CUfunction Image::find(const tsr_abi_device_kernel &kernel, const char *name) {
  std::lock_guard<std::mutex> lock(mutex);
  CUfunction &function = functions[name];
  if (function)
    return function;
  if (kernel.blocks < 0 || kernel.blocks > INT32_MAX || kernel.threads < 1 ||
      kernel.threads > mostThreads || kernel.shared_bytes < 0)
    fail(TSR_CORRUPT, "kernel '", name, "' has ", kernel.blocks, " blocks of ",
         kernel.threads, " threads and ", kernel.shared_bytes,
         " bytes of shared memory; compile the model again");
  CUfunction found = nullptr;
  if (CUresult result = driver.moduleGetFunction(&found, module, name))
    fail(TSR_CORRUPT, "the artifact has no kernel '", name,
         "': ", driver.errorText(result), "; compile the model again");
  if (kernel.shared_bytes > freeSharedBytes)
    if (CUresult result = driver.funcSetAttribute(
            found, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
            static_cast<int>(kernel.shared_bytes)))
      fail(TSR_UNSUPPORTED, "kernel '", name, "' needs ", kernel.shared_bytes,
           " bytes of shared memory per block, ", architecture(),
           " refuses: ", driver.errorText(result));
  return function = found;
}

void Image::launch(const tsr_abi_device_kernel &kernel, const char *name,
                   int64_t launches, void **parameters, cudaStream_t stream) {
  if (kernel.blocks == 0)
    return;
  CUresult result = driver.launchKernel(
      find(kernel, name), static_cast<unsigned>(kernel.blocks),
      static_cast<unsigned>(launches), 1, static_cast<unsigned>(kernel.threads),
      1, 1, static_cast<unsigned>(kernel.shared_bytes), stream, parameters,
      nullptr);
  if (result != CUDA_SUCCESS)
    fail(TSR_INTERNAL, "cuda: launching kernel '", name,
         "': ", driver.errorText(result));
}

void Image::launch(const tsr_abi_device_kernel &kernel, void *const *buffers,
                   const int64_t *scalars, void *workspace,
                   cudaStream_t stream) {
  for (const tsr_abi_device_kernel *at = &kernel; at; at = at->next) {
    std::vector<void *> parameters;
    for (int64_t i = 0; i < at->buffers; ++i)
      parameters.push_back(const_cast<void **>(&buffers[i]));
    parameters.push_back(&scalars);
    parameters.push_back(&workspace);
    launch(*at, at->name, 1, parameters.data(), stream);
  }
}

void Image::launchBatch(const tsr_abi_device_kernel &kernel, int64_t launches,
                        BatchTable &table, cudaStream_t stream) {
  void *parameters[] = {table.data()};
  launch(kernel, kernel.batched, launches, parameters, stream);
}

} // namespace tessera::cuda
