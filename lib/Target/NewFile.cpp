//===- NewFile.cpp - a file that is written beside its path ---------------===//

#include "lib/Target/NewFile.h"
#include "lib/Target/PlantedFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <climits>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;

namespace tessera {

std::error_code lastError() {
  return std::error_code(errno, std::generic_category());
}

std::error_code writeBytes(int file, StringRef bytes) {
  while (!bytes.empty()) {
    ssize_t done =
        ::write(file, bytes.data(), std::min<size_t>(bytes.size(), 1 << 30));
    if (done < 0 && errno != EINTR)
      return lastError();
    bytes = bytes.drop_front(std::max<ssize_t>(done, 0));
  }
  return {};
}

std::error_code syncFile(int file) {
  bool isSynced =
      fsync(file) == 0 || errno == EINVAL || errno == EROFS || errno == ENOTSUP;
  return isSynced ? std::error_code() : lastError();
}

/// Replaces a path by the one that its links lead to, whether that exists or
/// not.
static std::error_code follow(SmallVectorImpl<char> &path) {
  constexpr int mostLinks = 40;
  for (int i = 0; i < mostLinks; ++i) {
    char target[PATH_MAX];
    std::string link(path.begin(), path.end());
    if (isPlanted(link))
      return plantedFile();
    ssize_t length = readlink(link.c_str(), target, sizeof target);
    if (length < 0)
      return {};
    StringRef text(target, length);
    if (sys::path::is_absolute(text))
      path.clear();
    else
      sys::path::remove_filename(path);
    sys::path::append(path, text);
  }
  return std::error_code(ELOOP, std::generic_category());
}

std::error_code findDestination(StringRef path, Destination &found) {
  struct stat info, last;
  found.path = path;
  if (std::error_code error = follow(found.path))
    return error;
  if (stat(path.str().c_str(), &info) != 0)
    return {};
  if (S_ISDIR(info.st_mode))
    return std::error_code(EISDIR, std::generic_category());
  found.isReplaced = S_ISREG(info.st_mode);
  // A descriptor in /proc may be of a file without a name.
  bool hasName = stat(found.path.c_str(), &last) == 0 &&
                 last.st_dev == info.st_dev && last.st_ino == info.st_ino;
  return !found.isReplaced || hasName
             ? std::error_code()
             : std::error_code(ENOENT, std::generic_category());
}

std::error_code openInto(StringRef path, HeldFile &file) {
  file = HeldFile(::open(path.str().c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
  return file.isOpen() ? std::error_code() : lastError();
}

static constexpr StringLiteral kSuffix = ".tmp";
static constexpr size_t kDigits = 8;

/// Returns whether writers of `file` write to `name`, as to
/// "model.tsr.01ab89ef.tmp".
static bool isTemporaryOf(StringRef name, StringRef file) {
  return name.consume_front(file) && name.consume_front(".") &&
         name.consume_back(kSuffix) && name.size() == kDigits &&
         all_of(name, [](char c) { return isHexDigit(c); });
}

/// A writer holds its file: what nobody holds was left by one that was killed.
static void removeLeftovers(StringRef path) {
  SmallString<128> directory = sys::path::parent_path(path);
  if (directory.empty())
    directory = ".";
  std::error_code error;
  for (sys::fs::directory_iterator it(directory, error, false), end;
       !error && it != end; it.increment(error)) {
    if (!isTemporaryOf(sys::path::filename(it->path()),
                       sys::path::filename(path)))
      continue;
    HeldFile file(::open(it->path().c_str(),
                         O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    struct stat info;
    if (file.isOpen() && fstat(file.descriptor(), &info) == 0 &&
        S_ISREG(info.st_mode) && file.hold() == Hold::Ours)
      unlink(it->path().c_str());
  }
}

/// Creates a file beside `path` that nobody takes for a left-over one.
static std::error_code createBeside(StringRef path, HeldFile &file,
                                    SmallVectorImpl<char> &temporary) {
  for (;;) {
    int descriptor = -1;
    if (auto error = sys::fs::createUniqueFile(
            path + "." + std::string(kDigits, '%') + kSuffix, descriptor,
            temporary, sys::fs::OF_None, 0644))
      return error;
    file = HeldFile(descriptor);
    // Between these lines somebody may have taken it for left over.
    if (file.hold() != Hold::Others && file.isLinked())
      return {};
  }
}

NewFile::~NewFile() {
  if (!temporary.empty())
    (void)sys::fs::remove(temporary);
}

std::error_code NewFile::open(StringRef path) {
  target = path;
  removeLeftovers(target);
  return createBeside(target, file, temporary);
}

std::error_code NewFile::rename() {
  if (std::error_code error = sys::fs::rename(temporary, target))
    return error;
  temporary.clear();
  return file.close();
}

} // namespace tessera
