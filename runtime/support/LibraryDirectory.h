//===- LibraryDirectory.h - where this library lies -------------*- C++ -*-===//
#ifndef TESSERA_RUNTIME_SUPPORT_LIBRARYDIRECTORY_H
#define TESSERA_RUNTIME_SUPPORT_LIBRARYDIRECTORY_H

#include <string>

namespace tessera {

/// Returns the directory of the library that this code lies in, with a slash,
/// or "" if it is not known. Plug-ins lie there.
std::string libraryDirectory();

} // namespace tessera

#endif // TESSERA_RUNTIME_SUPPORT_LIBRARYDIRECTORY_H
