//===- HeldFile.h - an open file that a process may hold --------*- C++ -*-===//
// A file that a process holds is in use; the system lets go of it when the
// process ends, however it ends.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LIB_TARGET_HELDFILE_H
#define TESSERA_LIB_TARGET_HELDFILE_H

#include <cerrno>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace tessera {

/// Unknown: the file system has no locks.
enum class Hold { Ours, Others, Unknown };

/// Closes a descriptor at the end.
class HeldFile {
public:
  explicit HeldFile(int descriptor = -1) : file(descriptor) {}
  HeldFile(HeldFile &&other) : file(std::exchange(other.file, -1)) {}
  HeldFile &operator=(HeldFile &&other) {
    std::swap(file, other.file);
    return *this;
  }
  ~HeldFile() { (void)close(); }

  int descriptor() const { return file; }
  bool isOpen() const { return file >= 0; }
  Hold hold() const {
    if (flock(file, LOCK_EX | LOCK_NB) == 0)
      return Hold::Ours;
    return errno == EWOULDBLOCK ? Hold::Others : Hold::Unknown;
  }
  /// Returns whether it still has a name.
  bool isLinked() const {
    struct stat info;
    return fstat(file, &info) == 0 && info.st_nlink > 0;
  }
  /// Leaves the descriptor to the caller.
  int release() { return std::exchange(file, -1); }
  std::error_code close() {
    int descriptor = release();
    if (descriptor < 0 || ::close(descriptor) == 0)
      return {};
    return std::error_code(errno, std::generic_category());
  }

private:
  int file;
};

} // namespace tessera

#endif // TESSERA_LIB_TARGET_HELDFILE_H
