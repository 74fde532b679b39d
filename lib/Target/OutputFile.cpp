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
#include <vector>

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

namespace {

/// A file that is written beside its path, and removed unless it is renamed.
class NewFile {
public:
  NewFile() = default;
  NewFile(NewFile &&) = default;
  ~NewFile() {
    if (!temporary.empty())
      (void)sys::fs::remove(temporary);
  }

  std::error_code write(StringRef path, ArrayRef<StringRef> parts) {
    target = path;
    removeLeftovers(target);
    if (std::error_code error = createBeside(target, file, temporary))
      return error;
    return writeAll(file.descriptor(), parts);
  }
  std::string path() const { return target.str().str(); }
  std::error_code rename() {
    if (std::error_code error = sys::fs::rename(temporary, target))
      return error;
    temporary.clear();
    return file.close();
  }

private:
  HeldFile file;
  SmallString<128> target, temporary;
};

/// How a path is written, and where links lead from it.
struct Destination {
  SmallString<128> path;
  bool isReplaced = true; ///< Devices and pipes are written into.
};

} // namespace

static std::error_code findDestination(StringRef path, Destination &found) {
  struct stat info;
  found.path = path;
  if (stat(path.str().c_str(), &info) != 0)
    return follow(found.path);
  if (S_ISDIR(info.st_mode))
    return std::error_code(EISDIR, std::generic_category());
  found.isReplaced = S_ISREG(info.st_mode);
  return found.isReplaced ? sys::fs::real_path(path, found.path)
                          : std::error_code();
}

static std::error_code writeBeside(const OutputFile &output,
                                   std::vector<NewFile> &files) {
  Destination destination;
  if (std::error_code error = findDestination(output.path, destination))
    return error;
  if (!destination.isReplaced)
    return writeInto(output.path, output.parts);
  return files.emplace_back().write(destination.path, output.parts);
}

std::pair<std::error_code, std::string>
writeOutputs(ArrayRef<OutputFile> outputs) {
  std::vector<NewFile> files;
  files.reserve(outputs.size());
  for (const OutputFile &output : outputs)
    if (std::error_code error = writeBeside(output, files))
      return {error, output.path};
  for (NewFile &file : files)
    if (std::error_code error = file.rename())
      return {error, file.path()};
  return {};
}

std::error_code writeOutput(StringRef path, ArrayRef<StringRef> parts) {
  return writeOutputs(OutputFile{path.str(), llvm::to_vector(parts)}).first;
}

} // namespace tessera
