//===- ReadText.cpp - a file from outside as a text -----------------------===//

#include "tessera/Json/ReadText.h"
#include "tessera/json_limits.hpp"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;

namespace {

/// A file that is open for reading.
class OpenFile {
public:
  explicit OpenFile(StringRef path) : path(path) {}
  OpenFile(const OpenFile &) = delete;
  ~OpenFile() {
    if (descriptor >= 0)
      close(descriptor);
  }

  Error open();
  Expected<std::unique_ptr<llvm::MemoryBuffer>> read(uint64_t most,
                                                     StringRef what);

private:
  Error fail(const Twine &why) const {
    return llvm::createStringError("cannot read '" + path + "': " + why);
  }
  Error failOfSystem() const { return fail(llvm::sys::StrError(errno)); }

  const std::string path;
  int descriptor = -1;
};

/// Opening another device, or a pipe, may do something or wait.
Error OpenFile::open() {
  StringRef name = path;
  bool isOwn = name == "/dev/stdin" || name.starts_with("/dev/fd/") ||
               name.starts_with("/proc/self/fd/");
  struct stat info;
  if (stat(path.c_str(), &info) != 0)
    return failOfSystem();
  if (S_ISDIR(info.st_mode))
    return fail("Is a directory");
  if (!isOwn && !S_ISREG(info.st_mode))
    return fail("it is not a regular file");
  descriptor =
      ::open(path.c_str(), O_RDONLY | O_CLOEXEC | (isOwn ? 0 : O_NONBLOCK));
  if (descriptor < 0 || fstat(descriptor, &info) != 0)
    return failOfSystem();
  if (!isOwn && !S_ISREG(info.st_mode))
    return fail("it is not a regular file");
  return Error::success();
}

Expected<std::unique_ptr<llvm::MemoryBuffer>> OpenFile::read(uint64_t most,
                                                             StringRef what) {
  auto tooLong = [&](const Twine &size) {
    return llvm::createStringError("'" + path + "' has " + size + " bytes; " +
                                   what + " has at most " + Twine(most));
  };
  struct stat info;
  if (fstat(descriptor, &info) != 0)
    return failOfSystem();
  if (static_cast<uint64_t>(info.st_size) > most)
    return tooLong(Twine(info.st_size));
  llvm::SmallVector<char, 0> text;
  constexpr size_t block = 1 << 16;
  text.reserve(static_cast<size_t>(info.st_size) + block);
  while (text.size() <= most) {
    size_t size = text.size(), space = std::max(text.capacity() - size, block);
    text.resize_for_overwrite(size + space);
    ssize_t count = ::read(descriptor, text.data() + size, space);
    text.truncate(size + (count > 0 ? static_cast<size_t>(count) : 0));
    if (count < 0 && errno != EINTR)
      return failOfSystem();
    if (count == 0)
      return std::make_unique<llvm::SmallVectorMemoryBuffer>(std::move(text),
                                                             path);
  }
  return tooLong("more than " + Twine(most));
}

} // namespace

Expected<std::unique_ptr<llvm::MemoryBuffer>>
tessera::readText(const Twine &path, uint64_t most, StringRef what) {
  llvm::SmallString<128> name;
  path.toVector(name);
  OpenFile file(name);
  if (Error error = file.open())
    return error;
  return file.read(most, what);
}

Expected<std::unique_ptr<llvm::MemoryBuffer>>
tessera::readText(const Twine &path, const JsonLimits &limits) {
  return readText(path, limits.bytes, limits.what);
}
