#include "runtime/support/OwnedDirectory.h"

#include "runtime/support/File.h"
#include "runtime/support/LockOwner.h"
#include "runtime/support/Status.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace tessera {

namespace {
/// File systems of several hosts whose locks may be known on one host only.
bool reachesHosts(int descriptor) {
  constexpr long lustre = 0x0BD00BD0, beegfs = 0x19830326;
  struct statfs info;
  if (fstatfs(descriptor, &info) != 0)
    return false;
  for (long type : {long(FUSE_SUPER_MAGIC), long(SMB_SUPER_MAGIC),
                    long(CIFS_SUPER_MAGIC), long(SMB2_SUPER_MAGIC),
                    long(V9FS_MAGIC), long(AFS_SUPER_MAGIC), lustre, beegfs})
    if (static_cast<uint32_t>(info.f_type) == static_cast<uint32_t>(type))
      return false;
  return true;
}

FileLock lockFile(int descriptor, const std::string &path) {
  if (flock(descriptor, LOCK_EX | LOCK_NB) == 0)
    return FileLock::Granted;
  int code = errno;
  if (code == EWOULDBLOCK)
    return FileLock::Held;
  if (code == ENOLCK || code == ENOSYS || code == EOPNOTSUPP || code == EINVAL)
    return FileLock::Unsupported;
  fail(TSR_IO, "cannot lock '", path, "': ", std::strerror(code));
}
bool writeAtStart(int descriptor, const std::string &text) {
  for (size_t at = 0; at < text.size();) {
    ssize_t done = pwrite(descriptor, text.data() + at, text.size() - at, at);
    if (done < 0 && errno != EINTR)
      return false;
    at += std::max<ssize_t>(done, 0);
  }
  return true;
}
} // namespace

bool OwnedDirectory::Identity::operator==(const Identity &other) const {
  return exists == other.exists && device == other.device &&
         inode == other.inode;
}

OwnedDirectory::Identity OwnedDirectory::identify(const std::string &path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0)
    return {};
  return {true, info.st_dev, info.st_ino};
}

OwnedDirectory::OwnedDirectory(const std::string &path) : name(path) {
  // Its owner may remove the file just before we lock it; then ours is no more.
  constexpr int attempts = 100;
  createDirectories(name);
  directory = identify(name);
  try {
    for (int i = 0; i < attempts; ++i)
      if (tryToLock())
        return;
  } catch (...) {
    release();
    throw;
  }
  fail(TSR_IO, "cannot lock '", lockPath(),
       "': it is removed again and again; let one run alone write to '", name,
       "'");
}

OwnedDirectory::~OwnedDirectory() {
  try {
    if (holdsPath() && content() == own)
      unlink(lockPath().c_str());
  } catch (...) { // who comes next finds the lock free
  }
  release();
}

void OwnedDirectory::release() noexcept {
  if (descriptor >= 0)
    close(descriptor);
  descriptor = -1;
}

bool OwnedDirectory::tryToLock() {
  std::string path = lockPath();
  descriptor =
      open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (descriptor < 0)
    fail(TSR_IO, "cannot create '", path, "': ", std::strerror(errno));
  struct stat info;
  if (fstat(descriptor, &info) != 0 || !S_ISREG(info.st_mode) ||
      info.st_nlink > 1)
    fail(TSR_IO, "cannot lock '", path,
         "': it is no file of its own; remove it, or save to another "
         "directory");
  FileLock lock = lockFile(descriptor, path);
  LockOwner self = LockOwner::self(), owner = LockOwner::parse(content());
  if (isInUse(owner, self, lock, reachesHosts(descriptor)))
    fail(TSR_IO, "'", name, "' is in use by another run (", owner.describe(),
         "); wait for its end, stop it, or save to another directory",
         lock == FileLock::Held
             ? ""
             : concat("; if it has ended, remove '", path, "'"));
  if (!holdsPath()) {
    release();
    return false;
  }
  own = self.text();
  if (ftruncate(descriptor, 0) != 0 || !writeAtStart(descriptor, own)) {
    int code = errno;
    unlink(path.c_str());
    fail(TSR_IO, "cannot write '", path, "': ", std::strerror(code));
  }
  return true;
}

/// Returns whether the path of the lock still leads to the file that is open.
bool OwnedDirectory::holdsPath() const {
  struct stat info;
  if (descriptor < 0 || fstat(descriptor, &info) != 0)
    return false;
  return identify(lockPath()) == Identity{true, info.st_dev, info.st_ino};
}

std::string OwnedDirectory::content() const {
  std::string text(4096, '\0');
  size_t size = 0;
  ssize_t count;
  do {
    count = pread(descriptor, text.data() + size, text.size() - size, size);
    size += std::max<ssize_t>(count, 0);
  } while (count > 0 || (count < 0 && errno == EINTR));
  if (count < 0)
    fail(TSR_IO, "cannot read '", lockPath(), "': ", std::strerror(errno));
  text.resize(size);
  return text;
}

void OwnedDirectory::check() const {
  Identity now = identify(name);
  if (!(now == directory))
    fail(TSR_IO, "'", name, "' ",
         now.exists ? "is another directory than at the start of the run"
                    : "is gone",
         " (device ", directory.device, " inode ", directory.inode,
         now.exists ? concat(", now device ", now.device, " inode ", now.inode)
                    : "",
         "); mount its file system again, or save to another directory");
  if (!holdsPath() || content() != own)
    fail(TSR_IO, "'", lockPath(),
         "' was removed or taken by another run while this one was using '",
         name, "'; let one run alone write there");
}

bool OwnedDirectory::isAt(const std::string &other) const {
  return other == name || identify(other) == directory;
}

} // namespace tessera
