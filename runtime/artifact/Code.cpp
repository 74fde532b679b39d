#include "runtime/artifact/Code.h"

#include "runtime/support/Status.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace tessera {

namespace {
#if defined(__x86_64__)
constexpr int machine = EM_X86_64;
#elif defined(__aarch64__)
constexpr int machine = EM_AARCH64;
#else
constexpr int machine = EM_NONE;
#endif

template <class T> T readAt(std::string_view code, uint64_t offset) {
  T value;
  std::memcpy(&value, code.data() + offset, sizeof value);
  return value;
}

bool lies(std::string_view code, uint64_t offset, uint64_t bytes) {
  return offset <= code.size() && bytes <= code.size() - offset;
}

/// The entries of a table that the header describes; none if it leaves the
/// code.
template <class Entry>
std::vector<Entry> tableAt(std::string_view code, uint64_t offset,
                           uint64_t count) {
  std::vector<Entry> entries;
  if (count <= code.size() && lies(code, offset, count * sizeof(Entry)))
    for (uint64_t i = 0; i < count; ++i)
      entries.push_back(readAt<Entry>(code, offset + i * sizeof(Entry)));
  return entries;
}

/// Whether the dynamic symbol table defines `name`: what dlsym would find. A
/// file has one; more of them would be read for a time that grows with the
/// square of the file.
bool definesSymbol(std::string_view code, std::string_view name) {
  auto header = readAt<Elf64_Ehdr>(code, 0);
  auto sections = tableAt<Elf64_Shdr>(code, header.e_shoff, header.e_shnum);
  for (const Elf64_Shdr &section : sections) {
    if (section.sh_type != SHT_DYNSYM || section.sh_link >= sections.size())
      continue;
    const Elf64_Shdr &strings = sections[section.sh_link];
    if (!lies(code, strings.sh_offset, strings.sh_size))
      return false;
    std::string_view names = code.substr(strings.sh_offset, strings.sh_size);
    for (const Elf64_Sym &symbol : tableAt<Elf64_Sym>(
             code, section.sh_offset, section.sh_size / sizeof(Elf64_Sym)))
      if (symbol.st_shndx != SHN_UNDEF && symbol.st_name < names.size() &&
          names.compare(symbol.st_name, name.size() + 1,
                        std::string(name) + '\0') == 0)
        return true;
    return false;
  }
  return false;
}

/// dlopen maps what the headers say and would die of SIGBUS on a short file.
void checkElf(const std::string &source, std::string_view code) {
  auto refuse = [&](const char *why) {
    fail(TSR_CORRUPT, source, ": the code ", why, "; compile the model again");
  };
  if (code.size() < sizeof(Elf64_Ehdr) ||
      std::memcmp(code.data(), ELFMAG, SELFMAG) != 0)
    refuse("is not an ELF file");
  auto header = readAt<Elf64_Ehdr>(code, 0);
  if (header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_type != ET_DYN)
    refuse("is not a 64-bit shared object");
  if (header.e_machine != machine)
    refuse("is for another kind of processor");
  auto segments = tableAt<Elf64_Phdr>(code, header.e_phoff, header.e_phnum);
  if (header.e_phentsize != sizeof(Elf64_Phdr) ||
      segments.size() != header.e_phnum)
    refuse("has program headers outside of the file");
  for (const Elf64_Phdr &segment : segments)
    if (!lies(code, segment.p_offset, segment.p_filesz))
      refuse("has a segment outside of the file");
  if (!definesSymbol(code, TSR_PROGRAM_STEP))
    refuse("has no '" TSR_PROGRAM_STEP "'");
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

Code::Code(const std::string &source, std::string given)
    : source(source), bytes(std::move(given)) {
  checkElf(source, bytes);
}

void Code::load() const {
  std::call_once(once, [this] {
    if (!program)
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
  program = reinterpret_cast<tsr_abi_program>(dlsym(handle, TSR_PROGRAM_STEP));
  if (!program) {
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
