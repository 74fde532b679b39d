#include "runtime/support/LibraryDirectory.h"

#include <dlfcn.h>

namespace tessera {

std::string libraryDirectory() {
  static const char anchor = 0;
  Dl_info info;
  if (dladdr(&anchor, &info) == 0 || !info.dli_fname)
    return "";
  std::string path = info.dli_fname;
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

} // namespace tessera
