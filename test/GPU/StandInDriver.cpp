//===- StandInDriver.cpp - the driver's modules, with two known kernels ---===//
// affine and finish are those of LaunchTest.cpp's PTX.

#include "StandInStream.h"

#include <cstring>
#include <cuda.h>
#include <map>
#include <string>

namespace {
struct Launch {
  int64_t count;
  std::vector<void *> parameters;
};

struct Kernel {
  const char *name;
  int parameters;
  void (*run)(const Launch &);
};

float *floats(void *data) { return static_cast<float *>(data); }

/// The kernels use the workspace behind its first 32 MiB.
float *workspaceOf(const Launch &launch) {
  return floats(launch.parameters[3]) + (32 << 20) / sizeof(float);
}

void affine(const Launch &launch) {
  auto *scalars = static_cast<const int64_t *>(launch.parameters[2]);
  for (int64_t i = 0; i < launch.count; ++i)
    workspaceOf(launch)[i] =
        floats(launch.parameters[0])[i] * static_cast<float>(scalars[0]);
}

void finish(const Launch &launch) {
  auto *scalars = static_cast<const int64_t *>(launch.parameters[2]);
  for (int64_t i = 0; i < launch.count; ++i)
    floats(launch.parameters[1])[i] =
        workspaceOf(launch)[i] + static_cast<float>(scalars[1]);
}

const Kernel kernels[] = {{"affine", 4, affine}, {"finish", 4, finish}};

CUresult moduleLoadDataEx(CUmodule *module, const void *image, unsigned int,
                          CUjit_option *, void **) {
  if (!std::strstr(static_cast<const char *>(image), ".version"))
    return CUDA_ERROR_INVALID_PTX;
  *module = reinterpret_cast<CUmodule>(1);
  return CUDA_SUCCESS;
}

CUresult moduleUnload(CUmodule) { return CUDA_SUCCESS; }

CUresult moduleGetFunction(CUfunction *function, CUmodule, const char *name) {
  for (const Kernel &kernel : kernels)
    if (std::strcmp(kernel.name, name) == 0) {
      *function = reinterpret_cast<CUfunction>(const_cast<Kernel *>(&kernel));
      return CUDA_SUCCESS;
    }
  return CUDA_ERROR_NOT_FOUND;
}

CUresult funcSetAttribute(CUfunction, CUfunction_attribute, int) {
  return CUDA_SUCCESS;
}

CUresult launchKernel(CUfunction function, unsigned int blocks, unsigned int,
                      unsigned int, unsigned int threads, unsigned int,
                      unsigned int, unsigned int, CUstream stream,
                      void **parameters, void **) {
  auto &kernel = *reinterpret_cast<const Kernel *>(function);
  Launch launch{int64_t(blocks) * threads, {}};
  for (int i = 0; i < kernel.parameters; ++i)
    launch.parameters.push_back(*static_cast<void **>(parameters[i]));
  stream->push([&kernel, launch] { kernel.run(launch); });
  return CUDA_SUCCESS;
}

CUresult getErrorString(CUresult, const char **text) {
  *text = "stand-in error";
  return CUDA_SUCCESS;
}
} // namespace

cudaError_t
cudaGetDriverEntryPointByVersion(const char *symbol, void **address,
                                 unsigned int, unsigned long long,
                                 cudaDriverEntryPointQueryResult *result) {
  static const std::map<std::string, void *> entries = {
      {"cuModuleLoadDataEx", reinterpret_cast<void *>(moduleLoadDataEx)},
      {"cuModuleUnload", reinterpret_cast<void *>(moduleUnload)},
      {"cuModuleGetFunction", reinterpret_cast<void *>(moduleGetFunction)},
      {"cuFuncSetAttribute", reinterpret_cast<void *>(funcSetAttribute)},
      {"cuLaunchKernel", reinterpret_cast<void *>(launchKernel)},
      {"cuGetErrorString", reinterpret_cast<void *>(getErrorString)}};
  *address = entries.at(symbol);
  *result = cudaDriverEntryPointSuccess;
  return cudaSuccess;
}
