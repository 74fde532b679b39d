//===- OwnFile.cpp - files where others may write, too --------------------===//

#include "tessera/Target/OwnFile.h"
#include "lib/Target/NewFile.h"
#include "lib/Target/PlantedFile.h"
#include "llvm/Support/Path.h"
#include <cstdlib>
#include <fcntl.h>

using namespace llvm;

namespace tessera {

/// Removes a name that leads to what may be somebody else's.
static void removeForeign(const std::string &path) {
  struct stat info;
  bool isForeign =
      lstat(path.c_str(), &info) == 0 &&
      (S_ISLNK(info.st_mode) || (S_ISREG(info.st_mode) && info.st_nlink > 1));
  if (isForeign)
    unlink(path.c_str()); // if it stays, opening it is an error
}

std::error_code openOwnFile(StringRef path, int &descriptor) {
  std::string name = path.str();
  removeForeign(name);
  HeldFile file(::open(name.c_str(),
                       O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW,
                       0666));
  struct stat info;
  if (!file.isOpen() || fstat(file.descriptor(), &info) != 0)
    return lastError();
  if (S_ISREG(info.st_mode) && info.st_nlink > 1)
    return std::error_code(EMLINK, std::generic_category());
  if (S_ISREG(info.st_mode) && ftruncate(file.descriptor(), 0) != 0)
    return lastError();
  descriptor = file.release();
  return {};
}

std::error_code createKeptFile(StringRef prefix, StringRef name,
                               int &descriptor, SmallVectorImpl<char> &path) {
  path.clear();
  sys::path::system_temp_directory(/*erasedOnReboot=*/true, path);
  sys::path::append(path, prefix + "-XXXXXX"); // mkdtemp fills them in
  std::string directory(path.begin(), path.end());
  if (!mkdtemp(directory.data()))
    return lastError();
  path.assign(directory.begin(), directory.end());
  sys::path::append(path, name);
  std::string file(path.begin(), path.end());
  descriptor = ::open(
      file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  return descriptor < 0 ? lastError() : std::error_code();
}

std::error_code refusePlanted(StringRef path) {
  Destination destination;
  std::error_code error = findDestination(path, destination);
  return error == plantedFile() ? error : std::error_code();
}

} // namespace tessera
