//===- CheckElf.h - whether bytes can be loaded as a program ----*- C++ -*-===//
// Reads an ELF file without loading it: dlopen maps what the headers say and
// would die of SIGBUS on a short file.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_ARTIFACT_CHECKELF_H
#define TESSERA_RUNTIME_ARTIFACT_CHECKELF_H

#include <string>
#include <string_view>

namespace tessera {

/// Fails with TSR_CORRUPT if `code` is not a complete shared object for this
/// machine or lacks TSR_PROGRAM_STEP; `source` names it in errors.
void checkElf(const std::string &source, std::string_view code);

} // namespace tessera

#endif // TESSERA_RUNTIME_ARTIFACT_CHECKELF_H
