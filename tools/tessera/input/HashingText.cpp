//===- HashingText.cpp - what a start waits for ---------------------------===//

#include "tools/tessera/input/HashingText.h"
#include "llvm/Support/FormatVariadic.h"
#include <cstdint>
#include <filesystem>

using namespace tessera;
namespace fs = std::filesystem;

/// A disk reads so much in some seconds.
static constexpr uint64_t kFewBytes = uint64_t(4) << 30;

/// Returns the weights in a directory or beside an index, or else the file
/// itself.
static std::vector<fs::path> filesOf(fs::path path) {
  std::error_code error;
  if (path.extension() == ".json")
    path = path.parent_path();
  if (!fs::is_directory(path, error))
    return {path};
  std::vector<fs::path> files;
  for (const auto &entry : fs::directory_iterator(path, error))
    if (entry.path().extension() == ".safetensors")
      files.push_back(entry.path());
  return files;
}

std::string tessera::hashingText(const std::vector<std::string> &paths) {
  uint64_t bytes = 0;
  size_t count = 0;
  for (const std::string &path : paths)
    for (const fs::path &file : filesOf(path)) {
      std::error_code error;
      uint64_t size = fs::file_size(file, error);
      bytes += error ? 0 : size;
      ++count;
    }
  if (bytes < kFewBytes)
    return "";
  return llvm::formatv("hashing {0} {1} of {2:f1} GiB, to compare what is read",
                       count, count == 1 ? "file" : "files",
                       static_cast<double>(bytes) / (uint64_t(1) << 30))
      .str();
}
