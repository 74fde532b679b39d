//===- LockOwner.h - who holds a lock, if it runs ---------------*- C++ -*-===//
#ifndef TESSERA_RUNTIME_SUPPORT_LOCKOWNER_H
#define TESSERA_RUNTIME_SUPPORT_LOCKOWNER_H

#include <cstdint>
#include <string>

namespace tessera {

/// A process, as a lock file names it.
struct LockOwner {
  std::string host, user, since;
  int64_t process = 0;      ///< 0: the file names nobody
  int64_t processStart = 0; ///< in ticks since the host started

  static LockOwner self();
  /// Returns the owner in a lock file's text; nobody if the text is damaged.
  static LockOwner parse(const std::string &text);
  std::string text() const;
  /// Returns "process 12 of user 'ada' on host 'h', since
  /// 2026-01-31T12:00:00Z".
  std::string describe() const;
  /// Returns whether a process of this host runs; if its number was given
  /// again, it is another one.
  bool isRunning() const;
};

/// The system's answer to a request for a file lock.
enum class FileLock { Granted, Held, Unsupported };

/// Returns whether a lock file that names `owner` is in use. The system
/// releases locks of processes that end, so a granted one is free, provided
/// that the file system tells other hosts of locks (`reachesHosts`) or the
/// owner is of this host.
bool isInUse(const LockOwner &owner, const LockOwner &self, FileLock lock,
             bool reachesHosts);

} // namespace tessera

#endif // TESSERA_RUNTIME_SUPPORT_LOCKOWNER_H
