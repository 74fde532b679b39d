#include "runtime/support/File.h"

#include "runtime/support/Status.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace tessera {

namespace fs = std::filesystem;

[[noreturn]] static void failErrno(const char *what, const std::string &path) {
  int code = errno;
  fail(code == ENOENT ? TSR_NOT_FOUND : TSR_IO, what, " '", path,
       "': ", std::strerror(code));
}

uint64_t hashBytes(const void *data, size_t bytes) {
  return XXH3_64bits(data, bytes);
}

std::string hashText(uint64_t hash) {
  const char *digits = "0123456789abcdef";
  std::string text(16, '0');
  for (int i = 15; i >= 0; --i, hash >>= 4)
    text[i] = digits[hash & 15];
  return text;
}

/// Describes the pointer that Git LFS leaves in place of a file that it has not
/// fetched (git-lfs, docs/spec.md), or returns "".
static std::string describePointer(int descriptor, uint64_t size) {
  constexpr size_t most = 1024; // bytes of a pointer
  const std::string begin = "version https://git-lfs.github.com/spec/";
  char bytes[most];
  if (size >= most || size <= begin.size())
    return "";
  ssize_t count = pread(descriptor, bytes, size, 0);
  std::string text(bytes, count > 0 ? static_cast<size_t>(count) : 0);
  if (text.compare(0, begin.size(), begin) != 0)
    return "";
  const std::string key = "\nsize ";
  size_t at = text.find(key);
  std::string whole;
  if (at != text.npos) {
    at += key.size();
    whole = text.substr(at, text.find_first_not_of("0123456789", at) - at);
  }
  return concat("it is a pointer of Git LFS, ", size,
                " bytes of text in place "
                "of the ",
                whole.empty() ? "" : whole + " bytes of the ",
                "file itself; fetch it with: git lfs pull");
}

InputFile::InputFile(const std::string &path) : name(path) {
  auto refuseUnlessRegular = [&](const struct stat &info) {
    if (!S_ISREG(info.st_mode))
      fail(TSR_IO, "cannot read '", path, "': it is not a regular file");
  };
  struct stat info;
  if (stat(path.c_str(), &info) != 0)
    failErrno("cannot read", path);
  refuseUnlessRegular(info); // opening a device or a pipe may do something
  descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0)
    failErrno("cannot read", path);
  bool isKnown = fstat(descriptor, &info) == 0;
  if (!isKnown || !S_ISREG(info.st_mode))
    close(descriptor);
  if (!isKnown)
    failErrno("cannot read", path);
  refuseUnlessRegular(info);
  length = static_cast<uint64_t>(info.st_size);
  std::string pointer = describePointer(descriptor, length);
  if (!pointer.empty()) {
    close(descriptor);
    fail(TSR_CORRUPT, "cannot read '", path, "': ", pointer);
  }
}

InputFile::~InputFile() { close(descriptor); }

void InputFile::read(uint64_t offset, void *out, size_t count) const {
  char *cursor = static_cast<char *>(out);
  while (count != 0) {
    ssize_t done =
        pread(descriptor, cursor, std::min<size_t>(count, size_t(1) << 30),
              static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR)
      continue;
    if (done < 0)
      fail(TSR_IO, "cannot read '", name, "' at byte ", offset, ": ",
           std::strerror(errno));
    if (done == 0)
      fail(TSR_IO, "'", name, "' ends at byte ", offset, ", it had ", length,
           " bytes when it was opened; leave the file alone while it is used");
    cursor += done;
    offset += done;
    count -= done;
  }
}

std::string InputFile::readAll() const {
  std::string content(length, '\0');
  read(0, content.data(), content.size());
  return content;
}

struct WrittenFile::Hasher {
  XXH3_state_t state;
};

uint64_t InputFile::hash() const {
  constexpr uint64_t block = 1 << 20;
  std::vector<char> bytes(std::min(block, length));
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  for (uint64_t at = 0; at < length; at += bytes.size()) {
    bytes.resize(std::min(block, length - at));
    read(at, bytes.data(), bytes.size());
    XXH3_64bits_update(&state, bytes.data(), bytes.size());
  }
  return XXH3_64bits_digest(&state);
}

WrittenFile::WrittenFile(const std::string &path)
    : WrittenFile(path, O_EXCL | O_NOFOLLOW) {}

WrittenFile::WrittenFile(OfUser named) : WrittenFile(named.path, O_TRUNC) {}

WrittenFile::WrittenFile(const std::string &path, int flags)
    : name(path), hasher(std::make_unique<Hasher>()) {
  XXH3_64bits_reset(&hasher->state);
  descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0644);
  if (descriptor < 0) // also where its directory is gone
    fail(TSR_IO, "cannot create '", path, "': ", std::strerror(errno));
}

WrittenFile::~WrittenFile() {
  if (descriptor >= 0)
    close(descriptor);
}

void WrittenFile::write(const void *data, size_t count) {
  const char *cursor = static_cast<const char *>(data);
  XXH3_64bits_update(&hasher->state, data, count);
  while (count != 0) {
    ssize_t done =
        ::write(descriptor, cursor, std::min<size_t>(count, size_t(1) << 30));
    if (done < 0 && errno == EINTR)
      continue;
    if (done < 0)
      fail(TSR_IO, "cannot write '", name, "' after ", written,
           " bytes: ", std::strerror(errno));
    cursor += done;
    count -= done;
    written += done;
  }
}

void WrittenFile::finish() {
  // Pipes, devices and some file systems have nothing to sync.
  if (fsync(descriptor) != 0 && errno != EINVAL && errno != ENOTSUP)
    fail(TSR_IO, "cannot sync '", name, "': ", std::strerror(errno));
  int closed = close(descriptor);
  descriptor = -1;
  if (closed != 0)
    fail(TSR_IO, "cannot close '", name, "': ", std::strerror(errno));
}

uint64_t WrittenFile::hash() const {
  return XXH3_64bits_digest(&hasher->state);
}

bool isDirectory(const std::string &path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

bool isFile(const std::string &path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

/// Returns the directory that keeps the name of a file or directory.
static std::string parentOf(const std::string &path) {
  std::string parent = fs::path(path).parent_path();
  return parent.empty() ? "." : parent;
}

void createDirectories(const std::string &path) {
  if (isDirectory(path))
    return;
  std::string parent = parentOf(path);
  if (parent != path)
    createDirectories(parent);
  std::error_code code;
  bool isNew = fs::create_directory(path, code);
  if (!isDirectory(path) && (!code || code == std::errc::file_exists))
    code = std::make_error_code(std::errc::not_a_directory);
  if (code)
    fail(TSR_IO, "cannot create directory '", path, "': ", code.message());
  if (isNew)
    syncDirectory(parent);
}

void createNewDirectory(const std::string &path) {
  std::string parent = parentOf(path);
  createDirectories(parent);
  std::error_code code;
  if (!fs::create_directory(path, code) && !code)
    code = std::make_error_code(std::errc::file_exists);
  if (code)
    fail(TSR_IO, "cannot create directory '", path, "': ", code.message());
  syncDirectory(parent);
}

namespace {
/// The entries of a directory but "." and "..". (The iterators of
/// std::filesystem end the process for want of memory.)
class Entries {
public:
  /// Takes the descriptor.
  explicit Entries(int descriptor) : stream(fdopendir(descriptor)) {
    if (!stream)
      close(descriptor);
  }
  Entries(const Entries &) = delete;
  Entries &operator=(const Entries &) = delete;
  ~Entries() {
    if (stream)
      closedir(stream);
  }

  /// Returns whether the directory can be read; errno says why not.
  explicit operator bool() const { return stream != nullptr; }
  int descriptor() const { return dirfd(stream); }
  /// Returns the next name; null at the end, with errno 0, and if it cannot be
  /// read.
  const char *next() {
    const dirent *entry;
    do {
      errno = 0;
      entry = readdir(stream);
    } while (entry && (std::strcmp(entry->d_name, ".") == 0 ||
                       std::strcmp(entry->d_name, "..") == 0));
    return entry ? entry->d_name : nullptr;
  }

private:
  DIR *stream;
};

constexpr int directoryFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

/// Removes an entry and what it contains; an entry that cannot be removed
/// stays.
void removeAt(int parent, const char *name) {
  if (unlinkat(parent, name, 0) == 0 || (errno != EISDIR && errno != EPERM))
    return;
  int descriptor = openat(parent, name, directoryFlags | O_NOFOLLOW);
  if (descriptor < 0)
    return;
  {
    Entries entries(descriptor);
    while (const char *entry = entries ? entries.next() : nullptr)
      removeAt(entries.descriptor(), entry);
  }
  unlinkat(parent, name, AT_REMOVEDIR);
}
} // namespace

void removeDirectory(const std::string &path) noexcept {
  removeAt(AT_FDCWD, path.c_str());
}

void syncDirectory(const std::string &path) {
  int descriptor = open(path.c_str(), directoryFlags);
  if (descriptor < 0)
    failErrno("cannot open directory", path);
  int synced = fsync(descriptor), code = errno;
  close(descriptor);
  // Some file systems cannot sync a directory (EINVAL); nothing more can be
  // done there.
  if (synced != 0 && code != EINVAL)
    fail(TSR_IO, "cannot sync directory '", path, "': ", std::strerror(code));
}

void replaceDirectory(const std::string &from, const std::string &to) {
  bool isDone = rename(from.c_str(), to.c_str()) == 0;
  bool exists = !isDone && (errno == ENOTEMPTY || errno == EEXIST);
  if (exists)
    isDone = renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(),
                       RENAME_EXCHANGE) == 0;
  if (!isDone)
    fail(TSR_IO, "cannot rename '", from, "' to '", to,
         "': ", std::strerror(errno));
  syncDirectory(parentOf(to));
  if (exists) // not earlier: after a power loss `to` may still lead to it
    removeDirectory(from);
}

bool moveDirectory(const std::string &from, const std::string &to) {
  return rename(from.c_str(), to.c_str()) == 0;
}

std::vector<std::string> listDirectory(const std::string &path) {
  int descriptor = open(path.c_str(), directoryFlags);
  if (descriptor < 0)
    failErrno("cannot list", path);
  Entries entries(descriptor);
  std::vector<std::string> names;
  while (const char *name = entries ? entries.next() : nullptr)
    names.emplace_back(name);
  if (errno != 0)
    failErrno("cannot list", path);
  std::sort(names.begin(), names.end());
  return names;
}

} // namespace tessera
