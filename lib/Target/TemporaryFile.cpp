//===- TemporaryFile.cpp - files between the steps of a compilation -------===//

#include "tessera/Target/TemporaryFile.h"
#include "lib/Target/HeldFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <mutex>

using namespace llvm;

namespace tessera {

static constexpr StringLiteral kPrefix = ".tessera-scratch-";
static constexpr StringLiteral kDigits = "XXXXXX"; // mkdtemp fills them in

static HeldFile openDirectory(const char *path) {
  return HeldFile(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
}

/// Removes a directory that is open, and the files in it. Its path alone might
/// lead to another one by now.
static void removeOpen(const HeldFile &directory, const char *path) {
  int copy = fcntl(directory.descriptor(), F_DUPFD_CLOEXEC, 0);
  DIR *entries = copy < 0 ? nullptr : fdopendir(copy);
  if (!entries && copy >= 0)
    close(copy);
  while (const dirent *entry = entries ? readdir(entries) : nullptr)
    unlinkat(directory.descriptor(), entry->d_name, 0);
  if (entries)
    closedir(entries);
  rmdir(path);
}

/// Held as long as it exists.
class ScratchDirectory {
public:
  ~ScratchDirectory() {
    if (!path.empty())
      removeOpen(held, path.c_str());
  }
  std::error_code create();

  SmallString<128> path;

private:
  static void removeLeftovers(StringRef parent);

  HeldFile held;
};

/// Directories of ours that nobody holds are of processes that were killed.
void ScratchDirectory::removeLeftovers(StringRef parent) {
  std::error_code error;
  for (sys::fs::directory_iterator it(parent, error, false), end;
       !error && it != end; it.increment(error)) {
    StringRef name = sys::path::filename(it->path());
    if (!name.starts_with(kPrefix) ||
        name.size() != kPrefix.size() + kDigits.size())
      continue;
    HeldFile file = openDirectory(it->path().c_str());
    struct stat info;
    if (file.isOpen() && fstat(file.descriptor(), &info) == 0 &&
        info.st_uid == geteuid() && file.hold() == Hold::Ours)
      removeOpen(file, it->path().c_str());
  }
}

std::error_code ScratchDirectory::create() {
  SmallString<128> parent;
  sys::path::system_temp_directory(/*erasedOnReboot=*/true, parent);
  removeLeftovers(parent);
  for (;;) {
    std::string name = (parent + "/" + kPrefix + kDigits).str();
    if (!mkdtemp(name.data()))
      return std::error_code(errno, std::generic_category());
    held = openDirectory(name.c_str());
    // Between these lines somebody may have taken it for left over.
    if (!held.isOpen() || held.hold() == Hold::Others || !held.isLinked())
      continue;
    path = name;
    return {};
  }
}

/// The one of this process, as long as it has temporary files.
static std::error_code scratch(std::shared_ptr<ScratchDirectory> &result) {
  static std::mutex mutex;
  static std::weak_ptr<ScratchDirectory> current;
  std::lock_guard<std::mutex> lock(mutex);
  result = current.lock();
  if (result)
    return {};
  auto fresh = std::make_shared<ScratchDirectory>();
  if (std::error_code error = fresh->create())
    return error;
  current = result = std::move(fresh);
  return {};
}

TemporaryFile::~TemporaryFile() {
  if (!path.empty())
    (void)sys::fs::remove(path);
}

std::error_code TemporaryFile::create(StringRef suffix) {
  if (std::error_code error = scratch(directory))
    return error;
  int descriptor = -1;
  SmallString<128> created;
  if (auto error = sys::fs::createUniqueFile(
          directory->path + "/%%%%%%." + suffix, descriptor, created,
          sys::fs::OF_None, 0600))
    return error;
  path = created;
  return HeldFile(descriptor).close();
}

std::string describeTemporary(std::error_code error) {
  SmallString<128> parent;
  sys::path::system_temp_directory(/*erasedOnReboot=*/true, parent);
  return ("cannot create a temporary file in '" + parent +
          "': " + error.message() + "; set TMPDIR to another directory")
      .str();
}

} // namespace tessera
