#include "runtime/device/DevicePlugin.h"

#include "runtime/support/LibraryDirectory.h"

#include <cstring>
#include <dlfcn.h>
#include <unistd.h>

namespace tessera {

namespace {
void *load(const std::string &file) {
  // Never unloaded: device libraries start threads and exit handlers.
  return dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

std::shared_ptr<Device> makeDevice(const std::string &device,
                                   const std::string &file, void *library) {
  auto entry =
      reinterpret_cast<DevicePluginEntry>(dlsym(library, TSR_DEVICE_PLUGIN));
  if (!entry)
    fail(TSR_MISMATCH, "'", file, "' has no '" TSR_DEVICE_PLUGIN,
         "', so it is no plug-in of Tessera; reinstall it");
  const DevicePlugin &plugin = *entry();
  if (std::strcmp(plugin.version, TESSERA_VERSION) != 0)
    fail(TSR_MISMATCH, "'", file, "' is of version ", plugin.version,
         ", this runtime is ", TESSERA_VERSION,
         "; install both from one build");
  if (plugin.layout != deviceLayout())
    fail(TSR_MISMATCH, "'", file, "' is of another build of version ",
         plugin.version, " (its layout is ", plugin.layout, ", this runtime's ",
         deviceLayout(), "); install both from one build");
  if (device != plugin.device)
    fail(TSR_MISMATCH, "'", file, "' is the plug-in of device '", plugin.device,
         "', not of '", device, "'; reinstall it");
  std::shared_ptr<Device> made(plugin.create());
  if (!made)
    fail(TSR_OUT_OF_MEMORY, "no memory for device '", device, "'");
  return made;
}
} // namespace

std::shared_ptr<Device> openPlugin(const std::string &device,
                                   const std::string &file) {
  if (void *library = load(file))
    return makeDevice(device, file, library);
  const char *why = dlerror();
  fail(TSR_NOT_FOUND, "device '", device, "' needs the plug-in ", file,
       ", which cannot be loaded (", why ? why : "unknown reason",
       "); build Tessera where the CUDA toolkit is installed and install "
       "libtessera_cuda.so beside libtessera_runtime.so, or use device 'cpu'");
}

void checkDeviceName(const std::string &name) {
  if (name != "cpu" && name != "cuda")
    fail(TSR_UNSUPPORTED, "device '", name,
         "' is not in this runtime; use 'cpu' or 'cuda'");
}

std::shared_ptr<Device> openDevice(const std::string &name) {
  checkDeviceName(name);
  if (name == "cpu")
    return makeCpuDevice();
  const std::string file = "libtessera_cuda.so";
  const std::string beside = libraryDirectory() + file;
  // A file that is there and broken is the error, not the next one.
  bool isBeside = access(beside.c_str(), F_OK) == 0;
  return openPlugin(name, isBeside ? beside : file);
}

} // namespace tessera
