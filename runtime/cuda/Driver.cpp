#include "runtime/cuda/Driver.h"

#include "runtime/cuda/Check.h"

namespace tessera::cuda {

namespace {
template <class Function> void find(const char *name, Function &function) {
  void *address = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
  cudaError_t error = cudaGetDriverEntryPointByVersion(
      name, &address, 12000, cudaEnableDefault, &found);
  if (error != cudaSuccess || found != cudaDriverEntryPointSuccess || !address)
    fail(TSR_UNSUPPORTED, "the CUDA driver has no ", name,
         "; install a newer driver");
  function = reinterpret_cast<Function>(address);
}

Driver load() {
  Driver driver{};
  find("cuModuleLoadDataEx", driver.moduleLoadDataEx);
  find("cuModuleUnload", driver.moduleUnload);
  find("cuModuleGetFunction", driver.moduleGetFunction);
  find("cuFuncSetAttribute", driver.funcSetAttribute);
  find("cuLaunchKernel", driver.launchKernel);
  find("cuGetErrorString", driver.getErrorString);
  return driver;
}

std::string capabilityProblem(int devices) {
  for (int device = 0; device < devices; ++device) {
    int major = 0, minor = 0;
    cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
    if (major < minimumMajor)
      return concat("GPU ", device, " has compute capability ", major, ".",
                    minor, ", at least ", minimumMajor,
                    ".0 is needed; hide it with CUDA_VISIBLE_DEVICES or use "
                    "device 'cpu'");
  }
  return "";
}
} // namespace

const Driver &Driver::get() {
  static const Driver driver = load();
  return driver;
}

std::string Driver::errorText(CUresult result) const {
  const char *text = nullptr;
  if (getErrorString(result, &text) != CUDA_SUCCESS || !text)
    text = "unknown error";
  return concat(text, " (driver code ", static_cast<int>(result), ")");
}

std::string versionText(int version) {
  return concat(version / 1000, ".", version % 1000 / 10);
}

std::string driverProblem() {
  int driver = 0, toolkit = 0, devices = 0;
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&toolkit);
  if (driver == 0)
    return "there is no CUDA driver (libcuda.so.1); install NVIDIA's driver on "
           "a machine with a GPU, or use device 'cpu'";
  cudaError_t error = cudaGetDeviceCount(&devices);
  if (error == cudaErrorInsufficientDriver)
    return concat("the CUDA driver supports CUDA ", versionText(driver),
                  ", this plug-in is built with ", versionText(toolkit),
                  "; install a newer driver or build with an older toolkit");
  if (error == cudaErrorNoDevice || (error == cudaSuccess && devices == 0))
    return "there is no CUDA device; check nvidia-smi and "
           "CUDA_VISIBLE_DEVICES, or use device 'cpu'";
  if (error != cudaSuccess)
    return concat("the CUDA driver ", versionText(driver),
                  " does not start: ", errorText(error));
  return capabilityProblem(devices);
}

} // namespace tessera::cuda
