#include "runtime/cuda/cudnn/CudnnLibrary.h"

#include "runtime/support/Status.h"

#include <dlfcn.h>
#include <memory>

namespace tessera::cuda {

namespace {
/// The oldest version with all that the graphs use.
constexpr size_t oldestVersion = 90800;

struct Found {
  std::unique_ptr<CudnnLibrary> library;
  std::string version;
};

template <class Function>
bool find(void *library, const char *name, Function &function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

bool findAll(void *library, CudnnLibrary &cudnn) {
  return find(library, "cudnnGetErrorString", cudnn.getErrorString) &&
         find(library, "cudnnGetLastErrorString", cudnn.getLastErrorString) &&
         find(library, "cudnnCreate", cudnn.create) &&
         find(library, "cudnnDestroy", cudnn.destroy) &&
         find(library, "cudnnSetStream", cudnn.setStream) &&
         find(library, "cudnnBackendCreateDescriptor",
              cudnn.createDescriptor) &&
         find(library, "cudnnBackendDestroyDescriptor",
              cudnn.destroyDescriptor) &&
         find(library, "cudnnBackendSetAttribute", cudnn.setAttribute) &&
         find(library, "cudnnBackendGetAttribute", cudnn.getAttribute) &&
         find(library, "cudnnBackendFinalize", cudnn.finalize) &&
         find(library, "cudnnBackendExecute", cudnn.execute);
}

Found open() {
  Found found;
  void *library =
      dlopen("libcudnn.so.9", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  auto cudnn = std::make_unique<CudnnLibrary>();
  if (!library || !find(library, "cudnnGetVersion", cudnn->getVersion))
    return found;
  size_t number = cudnn->getVersion();
  found.version =
      concat(number / 10000, ".", number % 10000 / 100, ".", number % 100);
  if (number >= oldestVersion && findAll(library, *cudnn))
    found.library = std::move(cudnn);
  return found;
}

const Found &found() {
  static const Found once = open();
  return once;
}
} // namespace

const CudnnLibrary *CudnnLibrary::find() { return found().library.get(); }

const std::string &CudnnLibrary::version() { return found().version; }

std::string CudnnLibrary::lastError() const {
  char text[512] = "";
  getLastErrorString(text, sizeof text);
  return text;
}

void CudnnLibrary::check(cudnnStatus_t status, const char *what) const {
  if (status == CUDNN_STATUS_SUCCESS)
    return;
  std::string details = lastError();
  bool unsupported = status >= CUDNN_STATUS_NOT_SUPPORTED &&
                     status < CUDNN_STATUS_INTERNAL_ERROR;
  fail(unsupported ? TSR_UNSUPPORTED : TSR_INTERNAL, "cudnn: ", what, ": ",
       getErrorString(status), details.empty() ? "" : ": ", details);
}

} // namespace tessera::cuda
