//===- PlantedFile.h - what others left where we write ----------*- C++ -*-===//
// Everyone may make links and pipes in directories such as /tmp, under names
// that somebody else is likely to write to. Linux follows the same rule where
// fs.protected_symlinks is set (proc(5)).
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LIB_TARGET_PLANTEDFILE_H
#define TESSERA_LIB_TARGET_PLANTEDFILE_H

#include <string>
#include <sys/stat.h>
#include <system_error>

namespace tessera {

/// Returns whether `user` must not write through an entry of a directory: it is
/// no regular file, everyone may write to the directory, and it belongs neither
/// to the user nor to the directory's owner.
bool isPlanted(const struct stat &entry, const struct stat &directory,
               uid_t user);

/// Returns whether a path is such an entry for the user of this process.
bool isPlanted(const std::string &path);

/// Returns the error that says so.
std::error_code plantedFile();

} // namespace tessera

#endif // TESSERA_LIB_TARGET_PLANTEDFILE_H
