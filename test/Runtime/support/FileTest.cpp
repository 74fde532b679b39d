//===- FileTest.cpp - files and directories -------------------------------===//
#include "runtime/support/File.h"
#include "runtime/support/Status.h"
#include "test/Runtime/fixture/Fixture.h"

#include <filesystem>
#include <functional>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace fixture;
using namespace tessera;
namespace fs = std::filesystem;

namespace {

Status failureOf(const std::function<void()> &action) {
  try {
    action();
    return {};
  } catch (const Error &error) {
    return error.status;
  }
}

/// Returns `count` bytes with no period that divides a block.
std::string bytes(size_t count) {
  std::string text(count, '\0');
  for (size_t i = 0; i < count; ++i)
    text[i] = static_cast<char>(i * i >> 7 ^ i);
  return text;
}

TEST(InputFile, OnlyRegularFilesAreRead) {
  TemporaryDirectory directory;
  ASSERT_EQ(mkfifo((directory / "pipe").c_str(), 0600), 0);
  for (const std::string &path :
       {directory.path, directory / "pipe", std::string("/dev/zero")}) {
    Status status = failureOf([&] { InputFile file(path); });
    EXPECT_EQ(status.code, TSR_IO);
    EXPECT_CONTAINS(status.message, "it is not a regular file");
  }
  EXPECT_EQ(failureOf([&] { InputFile file(directory / "none"); }).code,
            TSR_NOT_FOUND);
}

TEST(InputFile, ReadsWhatIsAskedForAndNoMore) {
  TemporaryDirectory directory;
  std::string content = bytes(1000);
  writeFile(directory / "file", content);
  InputFile file(directory / "file");
  EXPECT_EQ(file.size(), 1000u);
  EXPECT_EQ(file.readAll(), content);
  std::string part(12, 'x');
  file.read(990, &part[1], 10);
  EXPECT_EQ(part, "x" + content.substr(990) + "x");
  Status status = failureOf([&] { file.read(990, &part[0], 11); });
  EXPECT_EQ(status.code, TSR_IO);
  EXPECT_CONTAINS(status.message, "ends at byte 1000, it had 1000 bytes");
}

/// Hashes are made of blocks of 1 MiB.
TEST(InputFile, HashIsThatOfAllBytes) {
  TemporaryDirectory directory;
  constexpr size_t block = 1 << 20;
  for (size_t size : {size_t(0), size_t(1), block - 1, block, block + 1,
                      2 * block, 2 * block + 7}) {
    std::string content = bytes(size);
    const std::string path = directory / "file";
    WrittenFile written(WrittenFile::OfUser{path});
    written.write(content.data(), size / 3);
    written.write(content.data() + size / 3, size - size / 3);
    written.finish();
    uint64_t hash = hashBytes(content.data(), content.size());
    EXPECT_EQ(written.hash(), hash) << size;
    EXPECT_EQ(written.size(), size);
    EXPECT_EQ(InputFile(directory / "file").hash(), hash) << size;
    EXPECT_EQ(readFile(directory / "file"), content);
  }
}

TEST(HashText, HasSixteenDigits) {
  EXPECT_EQ(hashText(0), "0000000000000000");
  EXPECT_EQ(hashText(0xFEDCBA9876543210), "fedcba9876543210");
}

/// Others may foresee the names of our files, and leave something there.
TEST(WrittenFile, IsNewAndFollowsNoLink) {
  TemporaryDirectory directory;
  const std::string victim = directory / "victim", path = directory / "file";
  writeFile(victim, "precious");
  for (const char *target : {"victim", "missing", "."}) {
    ASSERT_EQ(symlink(target, path.c_str()), 0);
    Status status = failureOf([&] { WrittenFile file(path); });
    EXPECT_EQ(status.code, TSR_IO);
    EXPECT_CONTAINS(status.message, "cannot create '");
    ASSERT_EQ(unlink(path.c_str()), 0);
  }
  EXPECT_FALSE(isFile(directory / "missing"));
  writeFile(path, "precious");
  EXPECT_CONTAINS(failureOf([&] { WrittenFile file(path); }).message,
                  "File exists");
  EXPECT_EQ(readFile(path) + readFile(victim), "preciousprecious");
}

TEST(Directories, AreNewOrAnError) {
  TemporaryDirectory directory;
  createNewDirectory(directory / "a/b");
  EXPECT_TRUE(isDirectory(directory / "a/b"));
  ASSERT_EQ(symlink("a", (directory / "link").c_str()), 0);
  ASSERT_EQ(symlink("none", (directory / "broken").c_str()), 0);
  writeFile(directory / "file", "");
  for (const char *name : {"a/b", "link", "broken", "file"})
    EXPECT_CONTAINS(
        failureOf([&] { createNewDirectory(directory / name); }).message,
        "File exists");
  EXPECT_FALSE(isDirectory(directory / "none"));
}

TEST(WrittenFile, ReplacesWhatAUserNames) {
  TemporaryDirectory directory;
  writeFile(directory / "file", "something longer");
  const std::string path = directory / "file";
  WrittenFile file(WrittenFile::OfUser{path});
  file.write("new", 3);
  file.finish();
  EXPECT_EQ(readFile(directory / "file"), "new");
  Status status = failureOf([&] { WrittenFile none(directory / "no/file"); });
  EXPECT_CONTAINS(status.message, "cannot create '");
}

TEST(Directories, AreMadeWithTheirParents) {
  TemporaryDirectory directory;
  createDirectories(directory / "a/b/c");
  EXPECT_TRUE(isDirectory(directory / "a/b/c"));
  createDirectories(directory / "a/b/c");
  writeFile(directory / "a/file", "x");
  for (const char *path : {"a/file", "a/file/under"}) {
    Status status = failureOf([&] { createDirectories(directory / path); });
    EXPECT_EQ(status.code, TSR_IO);
    EXPECT_CONTAINS(status.message, "a/file': Not a directory");
  }
}

TEST(Directories, AreListedInOrder) {
  TemporaryDirectory directory;
  for (const char *name : {"c", "a", "d", "b"})
    writeFile(directory / name, "");
  EXPECT_EQ(listDirectory(directory.path),
            (std::vector<std::string>{"a", "b", "c", "d"}));
  Status status = failureOf([&] { listDirectory(directory / "none"); });
  EXPECT_EQ(status.code, TSR_NOT_FOUND);
  EXPECT_CONTAINS(status.message, "cannot list '");
}

TEST(Directories, AreReplacedWithWhatIsInThem) {
  TemporaryDirectory directory;
  for (const char *name : {"old", "new"}) {
    fs::create_directory(directory / name);
    writeFile(directory / name + "/file", name);
  }
  replaceDirectory(directory / "new", directory / "old");
  EXPECT_EQ(readFile(directory / "old/file"), "new");
  EXPECT_EQ(listDirectory(directory.path), std::vector<std::string>{"old"});
  replaceDirectory(directory / "old", directory / "other");
  EXPECT_EQ(listDirectory(directory.path), std::vector<std::string>{"other"});
  writeFile(directory / "file", "x");
  EXPECT_CONTAINS(failureOf([&] {
                    replaceDirectory(directory / "other", directory / "file");
                  }).message,
                  "cannot rename '");
}

} // namespace
