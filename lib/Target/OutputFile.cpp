//===- OutputFile.cpp - files that commands write -------------------------===//

#include "tessera/Target/OutputFile.h"
#include "lib/Target/HeldFile.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <climits>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;

namespace tessera {

static std::error_code lastError() {
  return std::error_code(errno, std::generic_category());
}

static std::error_code writeAll(int file, ArrayRef<StringRef> parts) {
  for (StringRef part : parts)
    while (!part.empty()) {
      ssize_t done =
          ::write(file, part.data(), std::min<size_t>(part.size(), 1 << 30));
      if (done < 0 && errno != EINTR)
        return lastError();
      part = part.drop_front(std::max<ssize_t>(done, 0));
    }
  // Devices and pipes have nothing to sync.
  bool isSynced =
      fsync(file) == 0 || errno == EINVAL || errno == EROFS || errno == ENOTSUP;
  return isSynced ? std::error_code() : lastError();
}

static std::error_code writeInto(StringRef path, ArrayRef<StringRef> parts) {
  HeldFile file(open(path.str().c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
  if (!file.isOpen())
    return lastError();
  std::error_code error = writeAll(file.descriptor(), parts);
  std::error_code closing = file.close();
  return error ? error : closing;
}

/// Where links lead to, whether there is a file or not.
static std::error_code follow(SmallVectorImpl<char> &path) {
  constexpr int mostLinks = 40;
  for (int i = 0; i < mostLinks; ++i) {
    char target[PATH_MAX];
    std::string link(path.begin(), path.end());
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

static constexpr StringLiteral kSuffix = ".tmp";
static constexpr size_t kDigits = 8;

/// Whether `name` is what writers of `file` write to: "model.tsr.01ab89ef.tmp".
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
    HeldFile file(open(it->path().c_str(),
                       O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    struct stat info;
    if (file.isOpen() && fstat(file.descriptor(), &info) == 0 &&
        S_ISREG(info.st_mode) && file.hold() == Hold::Ours)
      unlink(it->path().c_str());
  }
}

/// A new file beside `path` that nobody takes for a left-over one.
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

static std::error_code replace(StringRef path, ArrayRef<StringRef> parts) {
  removeLeftovers(path);
  HeldFile file;
  SmallString<128> temporary;
  std::error_code error = createBeside(path, file, temporary);
  if (error)
    return error;
  error = writeAll(file.descriptor(), parts);
  if (!error)
    error = sys::fs::rename(temporary, path);
  if (error)
    (void)sys::fs::remove(temporary);
  std::error_code closing = file.close();
  return error ? error : closing;
}

std::error_code writeOutput(StringRef path, ArrayRef<StringRef> parts) {
  struct stat info;
  bool exists = stat(path.str().c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode))
    return std::error_code(EISDIR, std::generic_category());
  if (exists && !S_ISREG(info.st_mode))
    return writeInto(path, parts);
  SmallString<128> target = path;
  std::error_code error =
      exists ? sys::fs::real_path(path, target) : follow(target);
  return error ? error : replace(target, parts);
}

} // namespace tessera
