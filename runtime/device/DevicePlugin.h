//===- DevicePlugin.h - devices in libraries of their own -------*- C++ -*-===//
// A plug-in exports one C function that returns a DevicePlugin. C++ objects
// cross this border, so both sides must be of one build: version, compiler ABI
// and the layout of the shared structs are compared before anything is called.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_DEVICE_DEVICEPLUGIN_H
#define TESSERA_RUNTIME_DEVICE_DEVICEPLUGIN_H

#include "runtime/device/Device.h"
#include "runtime/device/Rank.h"

namespace tessera {

struct DevicePlugin {
  const char *device;  ///< "cuda"
  const char *version; ///< TESSERA_VERSION
  uint64_t layout;     ///< deviceLayout()
  /// Null only if there is no memory.
  Device *(*create)() noexcept;
};

#define TSR_DEVICE_PLUGIN "tsr_device_plugin"
using DevicePluginEntry = const DevicePlugin *(*)();

/// Changes with what the two sides must agree on.
constexpr uint64_t deviceLayout() {
  constexpr uint64_t interface = 4; // raised with Device.h
  uint64_t value = interface;
  for (uint64_t part : {uint64_t(TSR_ABI_VERSION), uint64_t(__GXX_ABI_VERSION),
                        sizeof(Rank), sizeof(Metadata), sizeof(TensorInfo),
                        sizeof(Code), sizeof(ThreadWorld), sizeof(Offer)})
    value = value * 1099511628211u ^ part;
  return value;
}

/// Fails with TSR_UNSUPPORTED if there is no such device in any build.
void checkDeviceName(const std::string &name);

/// Opens `cpu`, or `cuda` from libtessera_cuda.so: beside this library, then
/// where the loader looks. TSR_UNSUPPORTED: no such device; TSR_NOT_FOUND: no
/// plug-in; TSR_MISMATCH: a plug-in of another build. A plug-in stays loaded.
std::shared_ptr<Device> openDevice(const std::string &name);

/// Opens a plug-in from one file; the name may be a path.
std::shared_ptr<Device> openPlugin(const std::string &device,
                                   const std::string &file);

} // namespace tessera

#endif // TESSERA_RUNTIME_DEVICE_DEVICEPLUGIN_H
