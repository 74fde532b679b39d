//===- File.h - checked reads and writes ------------------------*- C++ -*-===//
// Reading is by copies: a mapped file that somebody cuts would end the process
// with SIGBUS. Writing is counted, hashed and synced. Every failure is
// an Error that names the path and the system's reason.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_SUPPORT_FILE_H
#define TESSERA_RUNTIME_SUPPORT_FILE_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tessera {

uint64_t hashBytes(const void *data, size_t bytes);
/// Writes a hash as 16 hexadecimal digits.
std::string hashText(uint64_t hash);

/// A regular file, read-only, of the size it has when it is opened.
/// TSR_NOT_FOUND, TSR_IO; TSR_CORRUPT: Git LFS has a pointer in its place.
class InputFile {
public:
  explicit InputFile(const std::string &path);
  InputFile(const InputFile &) = delete;
  InputFile &operator=(const InputFile &) = delete;
  ~InputFile();

  const std::string &path() const { return name; }
  uint64_t size() const { return length; }
  /// Bytes [offset, offset + count), which must lie in the file. Any thread may
  /// call it. TSR_IO: the file has become shorter.
  void read(uint64_t offset, void *out, size_t count) const;
  std::string readAll() const;
  /// Returns the XXH3-64 of the whole.
  uint64_t hash() const;

private:
  std::string name;
  int descriptor = -1;
  uint64_t length = 0;
};

/// A file that is written from start to end. TSR_IO.
class WrittenFile {
public:
  /// Makes a new file: neither a file nor a link may be there.
  explicit WrittenFile(const std::string &path);
  /// Writes over the file, or into the device, that a user has named.
  struct OfUser {
    const std::string &path;
  };
  explicit WrittenFile(OfUser named);
  WrittenFile(const WrittenFile &) = delete;
  WrittenFile &operator=(const WrittenFile &) = delete;
  ~WrittenFile();

  void write(const void *data, size_t count);
  /// Syncs and closes; without it the content may be lost.
  void finish();
  uint64_t size() const { return written; }
  /// Returns the XXH3-64 of the bytes that were written.
  uint64_t hash() const;

private:
  struct Hasher;
  WrittenFile(const std::string &path, int flags);

  std::string name;
  int descriptor = -1;
  uint64_t written = 0;
  std::unique_ptr<Hasher> hasher;
};

bool isDirectory(const std::string &path);
bool isFile(const std::string &path);
/// Creates the missing parents, too; all are durable.
void createDirectories(const std::string &path);
/// Creates a directory where neither one nor a link is; the parents are made
/// if they are missing.
void createNewDirectory(const std::string &path);
/// Removes a directory and the files in it; silent, for clean-up.
void removeDirectory(const std::string &path) noexcept;
/// Makes the names in a directory durable.
void syncDirectory(const std::string &path);
/// Moves `from` to `to`, atomically and durably; an existing directory `to` is
/// replaced.
void replaceDirectory(const std::string &from, const std::string &to);
/// Moves `from` to `to`, which does not exist, atomically; durable once the
/// directory that holds both is synced. Returns false if it cannot be done.
bool moveDirectory(const std::string &from, const std::string &to);
std::vector<std::string> listDirectory(const std::string &path);

} // namespace tessera

#endif // TESSERA_RUNTIME_SUPPORT_FILE_H
