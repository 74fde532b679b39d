//===- Plugin.cpp - the one function that the runtime finds ---------------===//

#include "runtime/cuda/CudaDevice.h"
#include "runtime/device/DevicePlugin.h"

using namespace tessera;

static Device *create() noexcept {
  return new (std::nothrow) cuda::CudaDevice();
}

extern "C" __attribute__((visibility("default"))) const DevicePlugin *
tsr_device_plugin() {
  static const DevicePlugin plugin = {"cuda", TESSERA_VERSION, deviceLayout(),
                                      create};
  return &plugin;
}
