#include "runtime/artifact/Code.h"

#include "runtime/support/Status.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace tessera {

namespace {
#if defined(__x86_64__)
constexpr int machine = EM_X86_64;
#elif defined(__aarch64__)
constexpr int machine = EM_AARCH64;
#else
constexpr int machine = EM_NONE;
#endif

template <class T> T readAt(const char *data, uint64_t offset) {
  T value;
  std::memcpy(&value, data + offset, sizeof value);
  return value;
}

/// dlopen maps what the headers say and would die of SIGBUS on a short file.
void checkElf(const std::string &source, const char *data, size_t bytes) {
  auto refuse = [&](const char *why) {
    fail(TSR_CORRUPT, source, ": the code ", why, "; compile the model again");
  };
  if (bytes < sizeof(Elf64_Ehdr) || std::memcmp(data, ELFMAG, SELFMAG) != 0)
    refuse("is not an ELF file");
  auto header = readAt<Elf64_Ehdr>(data, 0);
  if (header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_type != ET_DYN)
    refuse("is not a 64-bit shared object");
  if (header.e_machine != machine)
    refuse("is for another kind of processor");
  uint64_t table = uint64_t(header.e_phnum) * sizeof(Elf64_Phdr);
  if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phoff > bytes ||
      table > bytes - header.e_phoff)
    refuse("has program headers outside of the file");
  for (int i = 0; i < header.e_phnum; ++i) {
    auto segment = readAt<Elf64_Phdr>(
        data, header.e_phoff + uint64_t(i) * sizeof(Elf64_Phdr));
    if (segment.p_offset > bytes || segment.p_filesz > bytes - segment.p_offset)
      refuse("has a segment outside of the file");
  }
}

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

/// A nameless file in memory, or a deleted one in the temporary directory.
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

Code::Code(const std::string &source, const char *data, size_t bytes) {
  checkElf(source, data, bytes);
  descriptor = anonymousFile();
  if (descriptor < 0 || !writeAll(descriptor, data, bytes)) {
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
  program = reinterpret_cast<tsr_abi_program>(dlsym(handle, TSR_PROGRAM_STEP));
  deviceImage = static_cast<const tsr_abi_device_image *>(
      dlsym(handle, TSR_PROGRAM_IMAGE));
  if (program)
    return;
  release();
  fail(TSR_CORRUPT, source, ": the code has no '", TSR_PROGRAM_STEP, "'");
}

Code::~Code() { release(); }

void Code::release() {
  if (handle)
    dlclose(handle);
  if (descriptor >= 0)
    close(descriptor);
}

} // namespace tessera
