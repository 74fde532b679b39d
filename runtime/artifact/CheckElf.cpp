#include "runtime/artifact/CheckElf.h"

#include "runtime/support/Status.h"
#include "tessera/abi.h"

#include <cstring>
#include <elf.h>
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

/// Returns the entries of a table that the header describes; none if it leaves
/// the code.
template <class Entry>
std::vector<Entry> tableAt(std::string_view code, uint64_t offset,
                           uint64_t count) {
  std::vector<Entry> entries;
  if (count <= code.size() && lies(code, offset, count * sizeof(Entry)))
    for (uint64_t i = 0; i < count; ++i)
      entries.push_back(readAt<Entry>(code, offset + i * sizeof(Entry)));
  return entries;
}

/// Returns whether the dynamic symbol table defines `name`: what dlsym would
/// find. A file has one; more of them would be read for a time that grows with
/// the square of the file.
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

} // namespace

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
  bool generates = definesSymbol(code, TSR_PROGRAM_DECODE) &&
                   definesSymbol(code, TSR_PROGRAM_MIXED);
  bool encodes = definesSymbol(code, TSR_PROGRAM_ENCODE);
  if (!generates && !encodes && !definesSymbol(code, TSR_PROGRAM_STEP))
    refuse("has no '" TSR_PROGRAM_STEP "'");
}

} // namespace tessera
