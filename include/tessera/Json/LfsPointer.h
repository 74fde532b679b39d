//===- LfsPointer.h - what Git LFS leaves in place of a file ----*- C++ -*-===//

#ifndef TESSERA_JSON_LFSPOINTER_H
#define TESSERA_JSON_LFSPOINTER_H

namespace tessera {

/// Every pointer begins with this text (git-lfs, docs/spec.md). The runtime has
/// it too.
inline constexpr char kLfsPointerStart[] =
    "version https://git-lfs.github.com/spec/";

/// Diagnostics say this of such a file: what is wrong and what to do.
inline constexpr char kIsLfsPointer[] =
    "is a pointer of Git LFS in place of the file itself; fetch it with: git "
    "lfs pull";

} // namespace tessera

#endif // TESSERA_JSON_LFSPOINTER_H
