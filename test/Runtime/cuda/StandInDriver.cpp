//===- StandInDriver.cpp - the driver's modules ---------------------------===//
// PTX has two known kernels, those of LaunchTest.cpp. An image that is
// "emulated" lies in a program whose kernels are host code (emulate-grid); they
// run where the executable brings test/Codegen/Kernels/Gpu/GridEmulator.cpp.

#include "tessera/abi.h"
#include "test/Runtime/cuda/StandInControl.h"
#include "test/Runtime/cuda/StandInStream.h"

#include <array>
#include <cstring>
#include <cuda.h>
#include <dlfcn.h>
#include <map>
#include <string>

namespace {
using Table = std::array<void *, TSR_BATCH_POINTERS>;

struct Launch {
  int64_t count; ///< threads
  std::vector<void *> parameters;
  /// Launches that run as one.
  int64_t launches = 1;
  Table table{};
};

struct Kernel {
  const char *name;
  int parameters; ///< -1: a table by value
  void (*run)(const Launch &);
  /// The function of an emulated kernel.
  void *thread = nullptr;
  const tsr_abi_device_kernel *descriptor = nullptr;
};

/// The program of an emulated image; null: PTX.
struct Module {
  void *program = nullptr;
  std::map<std::string, Kernel> kernels;
  std::mutex mutex;
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

/// Doubles numbers; the buffers of each launch are in and out.
void doubleBatch(const Launch &launch) {
  for (int64_t k = launch.launches; k-- > 0;)
    for (int64_t i = 0; i < launch.count; ++i)
      floats(launch.table[2 * k + 1])[i] = floats(launch.table[2 * k])[i] * 2;
}

void doubleOne(const Launch &launch) {
  for (int64_t i = 0; i < launch.count; ++i)
    floats(launch.parameters[1])[i] = floats(launch.parameters[0])[i] * 2;
}

const Kernel kernels[] = {{"affine", 4, affine},
                          {"finish", 4, finish},
                          {"double", 4, doubleOne},
                          {"double_batch", -1, doubleBatch}};

CUresult moduleLoadDataEx(CUmodule *result, const void *image, unsigned int,
                          CUjit_option *, void **) {
  auto *text = static_cast<const char *>(image);
  auto module = std::make_unique<Module>();
  Dl_info where;
  if (std::strcmp(text, "emulated") == 0 && dladdr(image, &where))
    module->program = dlopen(where.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  else if (std::strncmp(text,
                        "\x7f"
                        "ELF",
                        4) == 0)
    return CUDA_ERROR_INVALID_IMAGE; // a cubin
  else if (!std::strstr(text, ".version"))
    return CUDA_ERROR_INVALID_PTX;
  *result = reinterpret_cast<CUmodule>(module.release());
  return CUDA_SUCCESS;
}

CUresult moduleUnload(CUmodule module) {
  auto *loaded = reinterpret_cast<Module *>(module);
  if (loaded->program)
    dlclose(loaded->program);
  delete loaded;
  return CUDA_SUCCESS;
}

const tsr_abi_device_kernel *descriptorOf(const Module &module,
                                          const std::string &name) {
  return static_cast<const tsr_abi_device_kernel *>(
      dlsym(module.program, (name + "_descriptor").c_str()));
}

const Kernel *findEmulated(Module &module, const std::string &name) {
  std::lock_guard<std::mutex> lock(module.mutex);
  Kernel &kernel = module.kernels[name];
  kernel.thread = dlsym(module.program, (name + "_thread").c_str());
  kernel.descriptor = descriptorOf(module, name);
  if (kernel.thread && kernel.descriptor)
    kernel.parameters = static_cast<int>(kernel.descriptor->buffers) + 2;
  else if (size_t end = name.rfind("_batch"); end != std::string::npos) {
    kernel.descriptor = descriptorOf(module, name.substr(0, end));
    kernel.parameters = -1;
  }
  return kernel.thread && kernel.descriptor ? &kernel : nullptr;
}

const Kernel *findKnown(const char *name) {
  static const Kernel nothing{"", 0, [](const Launch &) {}};
  for (const Kernel &kernel : kernels)
    if (std::strcmp(kernel.name, name) == 0)
      return &kernel;
  return standInIsIdle() ? &nothing : nullptr;
}

CUresult moduleGetFunction(CUfunction *function, CUmodule in,
                           const char *name) {
  auto &module = *reinterpret_cast<Module *>(in);
  const Kernel *found =
      module.program ? findEmulated(module, name) : findKnown(name);
  *function = reinterpret_cast<CUfunction>(const_cast<Kernel *>(found));
  return found ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

void runEmulatedBatch(const Kernel &kernel, const Launch &launch) {
  static auto *emulate = reinterpret_cast<void (*)(
      void *, const tsr_abi_device_kernel *, int64_t, void *)>(
      dlsym(RTLD_DEFAULT, "tsr_emulate_batch"));
  Table table = launch.table;
  emulate(kernel.thread, kernel.descriptor, launch.launches, table.data());
}

void runEmulated(const Kernel &kernel, const Launch &launch) {
  static auto *emulate = reinterpret_cast<void (*)(
      void *, const tsr_abi_device_kernel *, void *const *)>(
      dlsym(RTLD_DEFAULT, "tsr_emulate_launch"));
  emulate(kernel.thread, kernel.descriptor, launch.parameters.data());
}

CUresult funcSetAttribute(CUfunction, CUfunction_attribute, int) {
  return CUDA_SUCCESS;
}

CUresult launchKernel(CUfunction function, unsigned int blocks,
                      unsigned int launches, unsigned int, unsigned int threads,
                      unsigned int, unsigned int, unsigned int, CUstream stream,
                      void **parameters, void **) {
  auto &kernel = *reinterpret_cast<const Kernel *>(function);
  ++standInLaunches;
  Launch launch{int64_t(blocks) * threads, {}, launches};
  if (kernel.parameters < 0)
    launch.table = *static_cast<const Table *>(parameters[0]);
  for (int i = 0; i < kernel.parameters; ++i)
    launch.parameters.push_back(*static_cast<void **>(parameters[i]));
  stream->push([&kernel, launch] {
    if (kernel.thread && kernel.parameters < 0)
      runEmulatedBatch(kernel, launch);
    else if (kernel.thread)
      runEmulated(kernel, launch);
    else
      kernel.run(launch);
  });
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
