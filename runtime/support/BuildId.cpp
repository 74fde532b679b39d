#include "runtime/support/BuildId.h"

#include <cstring>
#include <link.h>

namespace tessera {

/// Its address tells which of the loaded files has this code.
static const char ownByte = 0;

static bool holdsOwnByte(const dl_phdr_info &file) {
  auto own = reinterpret_cast<ElfW(Addr)>(&ownByte);
  for (int i = 0; i < file.dlpi_phnum; ++i) {
    const ElfW(Phdr) &part = file.dlpi_phdr[i];
    ElfW(Addr) begin = file.dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_LOAD && own >= begin && own - begin < part.p_memsz)
      return true;
  }
  return false;
}

static std::string hexText(const unsigned char *bytes, size_t count) {
  static const char digits[] = "0123456789abcdef";
  std::string text;
  for (size_t i = 0; i < count; ++i)
    text += {digits[bytes[i] >> 4], digits[bytes[i] & 15]};
  return text;
}

/// Returns the build id among the notes, or "".
static std::string idAmong(const unsigned char *notes, size_t bytes,
                           size_t alignment) {
  auto aligned = [&](size_t size) {
    return (size + alignment - 1) / alignment * alignment;
  };
  ElfW(Nhdr) note;
  for (size_t at = 0; at + sizeof note <= bytes;) {
    std::memcpy(&note, notes + at, sizeof note);
    size_t name = at + sizeof note, content = name + aligned(note.n_namesz);
    if (content + note.n_descsz > bytes)
      return "";
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof "GNU" &&
        std::memcmp(notes + name, "GNU", sizeof "GNU") == 0)
      return hexText(notes + content, note.n_descsz);
    at = content + aligned(note.n_descsz);
  }
  return "";
}

/// Looks at one of the loaded files; ends the search at the right one.
static int findBuildId(dl_phdr_info *file, size_t, void *found) {
  if (!holdsOwnByte(*file))
    return 0;
  auto &id = *static_cast<std::string *>(found);
  for (int i = 0; i < file->dlpi_phnum && id.empty(); ++i) {
    const ElfW(Phdr) &part = file->dlpi_phdr[i];
    if (part.p_type == PT_NOTE)
      id = idAmong(reinterpret_cast<const unsigned char *>(file->dlpi_addr +
                                                           part.p_vaddr),
                   part.p_memsz, part.p_align == 8 ? 8 : 4);
  }
  return 1;
}

std::string buildId() {
  std::string id;
  dl_iterate_phdr(findBuildId, &id);
  return id;
}

} // namespace tessera
