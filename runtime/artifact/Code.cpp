#include "runtime/artifact/Code.h"

#include "runtime/artifact/CheckElf.h"
#include "runtime/support/Status.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace tessera {

namespace {
bool writeAll(int descriptor, const char *data, size_t bytes) {
  while (bytes != 0) {
    ssize_t done = write(descriptor, data, bytes);
    if (done < 0 && errno == EINTR)
      continue;
    if (done < 0)
      return false;
    data += done;
    bytes -= done;
  }
  return true;
}

/// Returns a nameless file in memory, or a deleted one in the temporary
/// directory.
int anonymousFile() {
  int descriptor = memfd_create("tessera-program", MFD_CLOEXEC);
  if (descriptor >= 0)
    return descriptor;
  const char *directory = std::getenv("TMPDIR");
  std::string path = concat(directory ? directory : "/tmp", "/tessera-XXXXXX");
  descriptor = mkostemp(path.data(), O_CLOEXEC);
  if (descriptor >= 0)
    unlink(path.c_str());
  return descriptor;
}
} // namespace

Code::Code(const std::string &source, std::string given)
    : source(source), bytes(std::move(given)) {
  checkElf(source, bytes);
}

void Code::load() const {
  std::call_once(once, [this] {
    if (!program && !decodeProgram && !encodeProgram)
      loadOnce();
  });
}

void Code::loadOnce() const {
  descriptor = anonymousFile();
  if (descriptor < 0 || !writeAll(descriptor, bytes.data(), bytes.size())) {
    int code = errno;
    release();
    fail(TSR_IO, source, ": cannot stage the code: ", std::strerror(code));
  }
  std::string path = concat("/proc/self/fd/", descriptor);
  handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *why = dlerror();
    std::string reason = why ? why : "unknown reason";
    release();
    fail(TSR_CORRUPT, source, ": the code cannot be loaded: ", reason);
  }
  deviceImage = static_cast<const tsr_abi_device_image *>(
      dlsym(handle, TSR_PROGRAM_IMAGE));
  auto find = [&](const char *name) {
    return reinterpret_cast<tsr_abi_program>(dlsym(handle, name));
  };
  evaluationProgram = find(TSR_PROGRAM_EVALUATION);
  decodeProgram = find(TSR_PROGRAM_DECODE);
  mixedProgram = find(TSR_PROGRAM_MIXED);
  scoreProgram = find(TSR_PROGRAM_SCORE);
  encodeProgram = find(TSR_PROGRAM_ENCODE);
  program = find(TSR_PROGRAM_STEP);
  if (!program && !encodeProgram && !(decodeProgram && mixedProgram)) {
    release();
    fail(TSR_CORRUPT, source,
         ": the loaded code has no '" TSR_PROGRAM_STEP
         "'; compile the model again");
  }
  bytes = std::string();
}

Code::~Code() { release(); }

void Code::release() const {
  if (handle)
    dlclose(handle);
  if (descriptor >= 0)
    close(descriptor);
  handle = nullptr;
  descriptor = -1;
}

} // namespace tessera
