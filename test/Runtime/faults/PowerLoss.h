//===- PowerLoss.h - what a disk may hold after a power loss ----*- C++ -*-===//
// Made of the interposer's log of changes. Only what was synced is certain: an
// fsync of a file keeps its data, one of a directory the names in it. Of what
// was not, each change may be there or not.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_TEST_RUNTIME_FAULTS_POWERLOSS_H
#define TESSERA_TEST_RUNTIME_FAULTS_POWERLOSS_H

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace faults {

/// Files with their content, directories without, by path below the root.
using DiskImage = std::map<std::string, std::optional<std::string>>;

void writeImage(const DiskImage &image, const std::string &root);

class DiskLog {
public:
  explicit DiskLog(const std::string &text);

  /// Moments at which the power may fail: before the first change, after it,
  /// and so on.
  size_t moments() const { return changes.size() + 1; }
  /// The step that was reported as saved last; 0: none.
  int64_t promisedAt(size_t moment) const;
  /// Returns the change right before it, a line of the log.
  std::string describe(size_t moment) const;
  /// Returns all prefixes of what was not synced, names without data, names
  /// with data of zeros, one change alone or missing, and some random choices.
  std::set<DiskImage> imagesAt(size_t moment) const;

private:
  enum class Kind { Name, Swap, Data, Resize, Sync, Says };
  struct Change {
    explicit Change(Kind kind) : kind(kind) {}

    Kind kind;
    int inode = 0;                   ///< the directory or file that changes
    std::string name, other;         ///< a name in it; Says: the text
    int value = -1, otherValue = -1; ///< inodes of the names; -1: removed
    uint64_t at = 0;                 ///< Data: the offset; Resize: the size
    std::string bytes;
    std::string line; ///< its text in the log
  };
  struct Disk {
    std::map<int, std::map<std::string, int>> directories;
    std::map<int, std::string> files;
  };
  enum class Data { Whole, Absent, Zeros };
  /// True for each change before the moment that is in the image.
  using Choice = std::vector<bool>;

  Change parse(const std::string &line);
  Change parseRename(const std::string &what, const std::string &from,
                     const std::string &to) const;
  Change naming(const std::string &path, int value) const;
  int find(const std::string &path) const;
  static void apply(const Change &change, Data data, Disk &disk);
  static void collect(const Disk &disk, int directory, const std::string &path,
                      DiskImage &image);
  Choice syncedAt(size_t moment) const;
  DiskImage imageOf(const Choice &choice, const Choice &synced,
                    Data pending) const;

  std::vector<Change> changes;
  Disk live; ///< while the log is read
  int inodes = 1;
};

} // namespace faults

#endif // TESSERA_TEST_RUNTIME_FAULTS_POWERLOSS_H
