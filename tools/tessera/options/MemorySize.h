//===- MemorySize.h - sizes as people write them ----------------*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_OPTIONS_MEMORYSIZE_H
#define TESSERA_TOOLS_TESSERA_OPTIONS_MEMORYSIZE_H

#include <cstdint>
#include <optional>
#include <string>

namespace tessera {

/// "4096", "900MiB", "1.5 GiB": bytes, rounded down; nullopt for anything else
/// and for less than a byte.
std::optional<int64_t> parseBytes(const std::string &text);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_OPTIONS_MEMORYSIZE_H
