//===- HashingTextTest.cpp - what a start waits for -----------------------===//

#include "tools/tessera/input/HashingText.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

using namespace tessera;
namespace fs = std::filesystem;

namespace {

/// Makes sparse files: they have their sizes and take no room.
class HashingText : public testing::Test {
protected:
  HashingText() {
    std::string name = (fs::temp_directory_path() / "hashing-XXXXXX").string();
    folder = mkdtemp(name.data());
  }
  ~HashingText() override { fs::remove_all(folder); }

  std::string file(const std::string &name, uint64_t bytes) {
    fs::path path = folder / name;
    std::ofstream(path).close();
    fs::resize_file(path, bytes);
    return path.string();
  }

  fs::path folder;
};

TEST_F(HashingText, FewBytesAreNotWorthALine) {
  EXPECT_EQ(hashingText({}), "");
  EXPECT_EQ(hashingText({file("a.bin", 1000), "no such file"}), "");
}

TEST_F(HashingText, ManyBytesAreCounted) {
  constexpr uint64_t gibi = uint64_t(1) << 30;
  EXPECT_EQ(hashingText({file("a.bin", 3 * gibi), file("b.bin", 3 * gibi / 2)}),
            "hashing 2 files of 4.5 GiB, to compare what is read");
  EXPECT_EQ(hashingText({file("c.bin", 9 * gibi)}),
            "hashing 1 file of 9.0 GiB, to compare what is read");
}

TEST_F(HashingText, WeightsOfAFolderAreCounted) {
  constexpr uint64_t gibi = uint64_t(1) << 30;
  file("model-1.safetensors", 2 * gibi);
  file("model-2.safetensors", 2 * gibi);
  file("pytorch_model.bin", 4 * gibi);
  std::string index = file("model.safetensors.index.json", 10);
  const char *text = "hashing 2 files of 4.0 GiB, to compare what is read";
  EXPECT_EQ(hashingText({folder.string()}), text);
  EXPECT_EQ(hashingText({index}), text);
}

} // namespace
