//===- LfsPointer.h - what Git LFS leaves in place of a file ----*- C++ -*-===//

#ifndef TESSERA_JSON_LFSPOINTER_H
#define TESSERA_JSON_LFSPOINTER_H

namespace tessera {

/// How the text begins (git-lfs, docs/spec.md). The runtime knows it too.
inline constexpr char kLfsPointerStart[] =
    "version https://git-lfs.github.com/spec/";

/// What is wrong with such a file, and what to do.
inline constexpr char kIsLfsPointer[] =
    "is a pointer of Git LFS in place of the file itself; fetch it with: git "
    "lfs pull";

} // namespace tessera

#endif // TESSERA_JSON_LFSPOINTER_H
