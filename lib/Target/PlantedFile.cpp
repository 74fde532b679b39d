//===- PlantedFile.cpp - what others left where we write ------------------===//

#include "lib/Target/PlantedFile.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Path.h"
#include <unistd.h>

using namespace llvm;

namespace tessera {

bool isPlanted(const struct stat &entry, const struct stat &directory,
               uid_t user) {
  bool isShared = (directory.st_mode & S_IWOTH) != 0;
  return isShared && !S_ISREG(entry.st_mode) && !S_ISDIR(entry.st_mode) &&
         entry.st_uid != user && entry.st_uid != directory.st_uid;
}

bool isPlanted(const std::string &path) {
  std::string parent = sys::path::parent_path(path).str();
  if (parent.empty())
    parent = ".";
  struct stat entry, directory;
  return lstat(path.c_str(), &entry) == 0 &&
         stat(parent.c_str(), &directory) == 0 &&
         isPlanted(entry, directory, geteuid());
}

namespace {
struct PlantedCategory : std::error_category {
  const char *name() const noexcept override { return "tessera"; }
  std::string message(int) const override {
    return "another user made it, which is no regular file, in a directory "
           "that everyone may write to; name another file";
  }
};
} // namespace

std::error_code plantedFile() {
  static const PlantedCategory category;
  return std::error_code(1, category);
}

} // namespace tessera
