//===- OwnedDirectory.h - a directory that one run writes -------*- C++ -*-===//
// A file `.lock` in it names the owner and is locked as long as the owner
// lives; it is removed at the end. What a killed process leaves is taken over.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_SUPPORT_OWNEDDIRECTORY_H
#define TESSERA_RUNTIME_SUPPORT_OWNEDDIRECTORY_H

#include <string>
#include <sys/types.h>

namespace tessera {

class OwnedDirectory {
public:
  /// Makes the directory if it is missing. TSR_IO: it cannot be made, or
  /// another run owns it, which the message names.
  explicit OwnedDirectory(const std::string &path);
  OwnedDirectory(const OwnedDirectory &) = delete;
  OwnedDirectory &operator=(const OwnedDirectory &) = delete;
  ~OwnedDirectory();

  const std::string &path() const { return name; }
  /// Fails with TSR_IO unless the path still leads to the directory, and to our
  /// lock: a file system may have been unmounted, and what lies below is
  /// another disk.
  void check() const;
  /// Returns whether `other` is a path of this very directory.
  bool isAt(const std::string &other) const;

private:
  /// Identifies the file that a path leads to, whatever the path is called.
  struct Identity {
    bool exists = false;
    dev_t device = 0;
    ino_t inode = 0;

    bool operator==(const Identity &other) const;
  };
  static Identity identify(const std::string &path);
  std::string lockPath() const { return name + "/.lock"; }
  bool tryToLock();
  bool holdsPath() const;
  std::string content() const;
  void release() noexcept;

  std::string name;
  Identity directory;
  int descriptor = -1;
  std::string own; ///< the content of the lock file
};

} // namespace tessera

#endif // TESSERA_RUNTIME_SUPPORT_OWNEDDIRECTORY_H
