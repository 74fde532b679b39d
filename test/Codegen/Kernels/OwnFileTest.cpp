//===- OwnFileTest.cpp - files where others may write, too ----------------===//
// A private directory plays the temporary directory, which others fill first.
//===----------------------------------------------------------------------===//

#include "tessera/Target/OwnFile.h"
#include "lib/Target/PlantedFile.h"
#include "tessera/Target/OutputFile.h"
#include "tessera/Target/StreamedOutput.h"
#include "tessera/Target/TemporaryFile.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <fcntl.h>
#include <gtest/gtest.h>
#include <set>
#include <unistd.h>

using namespace tessera;

namespace {

class OwnFileTest : public ::testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("own-file", directory));
    const char *variable = getenv("TMPDIR");
    before = variable ? variable : "";
    setenv("TMPDIR", directory.c_str(), /*overwrite=*/1);
    write("victim", "precious");
  }
  void TearDown() override {
    before.empty() ? unsetenv("TMPDIR")
                   : setenv("TMPDIR", before.c_str(), /*overwrite=*/1);
    llvm::sys::fs::remove_directories(directory);
  }

  std::string at(const std::string &name) const {
    return directory.str().str() + "/" + name;
  }
  void write(const std::string &name, const std::string &text) const {
    int file = open(at(name).c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    EXPECT_EQ(::write(file, text.data(), text.size()),
              static_cast<ssize_t>(text.size()));
    close(file);
  }
  std::string read(const std::string &name) const {
    auto file = llvm::MemoryBuffer::getFile(at(name));
    return file ? (*file)->getBuffer().str() : "nothing";
  }
  void link(const std::string &target, const std::string &name) const {
    ASSERT_EQ(symlink(target.c_str(), at(name).c_str()), 0);
  }
  struct stat entry(const std::string &path) const {
    struct stat info = {};
    EXPECT_EQ(lstat(path.c_str(), &info), 0) << path;
    return info;
  }
  std::string writeOwn(const std::string &name, const std::string &text) const {
    int file = -1;
    if (std::error_code error = openOwnFile(at(name), file))
      return error.message();
    EXPECT_EQ(::write(file, text.data(), text.size()),
              static_cast<ssize_t>(text.size()));
    close(file);
    return "";
  }

  llvm::SmallString<128> directory;
  std::string before;
};

TEST_F(OwnFileTest, ReplacesLinksAndKeepsWhatTheyLeadTo) {
  link("victim", "00-input.mlir");
  link(at("victim"), "01-pass.mlir");
  link("not-there", "02-pass.mlir");
  ASSERT_EQ(::link(at("victim").c_str(), at("03-pass.mlir").c_str()), 0);
  write("04-pass.mlir", "a longer text of an earlier run");
  for (std::string name : {"00-input.mlir", "01-pass.mlir", "02-pass.mlir",
                           "03-pass.mlir", "04-pass.mlir", "05-pass.mlir"}) {
    EXPECT_EQ(writeOwn(name, "ir"), "") << name;
    EXPECT_EQ(read(name), "ir") << name;
    EXPECT_TRUE(S_ISREG(entry(at(name)).st_mode)) << name;
    EXPECT_EQ(entry(at(name)).st_nlink, 1u) << name;
  }
  EXPECT_EQ(read("victim"), "precious");
  EXPECT_EQ(read("not-there"), "nothing");
  ASSERT_EQ(mkdir(at("06-pass.mlir").c_str(), 0700), 0);
  EXPECT_NE(writeOwn("06-pass.mlir", "ir"), "");
}

TEST_F(OwnFileTest, KeptFilesArePrivateAndNew) {
  std::set<std::string> paths;
  for (int i = 0; i < 16; ++i) {
    llvm::SmallString<128> path;
    int file = -1;
    ASSERT_FALSE(
        createKeptFile("tessera-crash", "reproducer.mlir", file, path));
    close(file);
    EXPECT_TRUE(paths.insert(path.str().str()).second);
    EXPECT_EQ(entry(path.str().str()).st_mode & 0777, 0600u);
    llvm::StringRef folder = llvm::sys::path::parent_path(path);
    EXPECT_EQ(entry(folder.str()).st_mode & 0777, 0700u);
    EXPECT_EQ(llvm::sys::path::parent_path(folder), directory);
  }
  setenv("TMPDIR", at("none").c_str(), /*overwrite=*/1);
  llvm::SmallString<128> path;
  int file = -1;
  EXPECT_EQ(createKeptFile("tessera-crash", "reproducer.mlir", file, path),
            std::errc::no_such_file_or_directory);
}

TEST_F(OwnFileTest, TemporaryFilesArePrivateAndGo) {
  std::string path, folder;
  {
    TemporaryFile file;
    ASSERT_FALSE(file.create("o"));
    path = file.path.str().str();
    folder = llvm::sys::path::parent_path(path).str();
    EXPECT_EQ(entry(path).st_mode & 0777, 0600u);
    EXPECT_EQ(entry(folder).st_mode & 0777, 0700u);
    // A link that somebody put there is removed, and not the file behind it.
    link(at("victim"), llvm::sys::path::filename(folder).str() + "/planted");
  }
  EXPECT_NE(access(folder.c_str(), F_OK), 0);
  EXPECT_EQ(read("victim"), "precious");
}

/// Links that look as if a compiler had left them.
TEST_F(OwnFileTest, LeftoversAreNoLinks) {
  ASSERT_EQ(mkdir(at("folder").c_str(), 0700), 0);
  write("folder/file", "precious");
  link("folder", ".tessera-scratch-abcdef");
  TemporaryFile file;
  ASSERT_FALSE(file.create("o"));
  EXPECT_EQ(read("folder/file"), "precious");
}

/// Everyone's directory, with the sticky bit or without it.
TEST_F(OwnFileTest, LinksOfOthersAreNotFollowedInEveryonesDirectories) {
  auto planted = [](mode_t entryMode, uid_t entryOwner, mode_t mode) {
    struct stat entry = {}, directory = {};
    entry.st_mode = entryMode;
    entry.st_uid = entryOwner;
    directory.st_mode = S_IFDIR | mode;
    directory.st_uid = 0;
    return isPlanted(entry, directory, /*user=*/1000);
  };
  for (mode_t kind : {S_IFLNK, S_IFIFO, S_IFSOCK, S_IFCHR}) {
    EXPECT_TRUE(planted(kind, 1001, 01777));
    EXPECT_TRUE(planted(kind, 1001, 0777));
    EXPECT_FALSE(planted(kind, 1000, 01777)); // the user's own
    EXPECT_FALSE(planted(kind, 0, 01777));    // owned by the directory's owner
    EXPECT_FALSE(planted(kind, 1001, 0755));
    EXPECT_FALSE(planted(kind, 1001, 0775)); // a group shares it
  }
  EXPECT_FALSE(planted(S_IFREG, 1001, 01777)); // a rename replaces it
}

/// Only the superuser can make what belongs to somebody else.
TEST_F(OwnFileTest, PlantedLinksAreRefusedWhereverOneWrites) {
  link("victim", "out");
  link("out", "own"); // leads over it
  StreamedOutput streamed;
  if (geteuid() != 0) {
    EXPECT_FALSE(writeOutput(at("own"), {"new"}));
    EXPECT_EQ(read("victim"), "new");
    EXPECT_FALSE(refusePlanted(at("own")));
    return;
  }
  ASSERT_EQ(chmod(directory.c_str(), 01777), 0);
  ASSERT_EQ(lchown(at("out").c_str(), 12345, 12345), 0);
  for (std::string name : {"out", "own"}) {
    std::error_code error = writeOutput(at(name), {"new"});
    EXPECT_NE(error.message().find("another user made it"), std::string::npos)
        << error.message();
    EXPECT_TRUE(refusePlanted(at(name)));
    EXPECT_TRUE(streamed.open(at(name)));
  }
  EXPECT_EQ(read("victim"), "precious");
  ASSERT_EQ(chmod(directory.c_str(), 0700), 0);
  EXPECT_FALSE(refusePlanted(at("own")));
}

TEST_F(OwnFileTest, OutputsGoWhereTheUsersLinksLead) {
  ASSERT_EQ(mkdir(at("there").c_str(), 0700), 0);
  link("there/model.tsr", "new");
  link("victim", "old");
  for (std::string name : {"new", "old"}) {
    EXPECT_FALSE(writeOutput(at(name), {"artifact"}));
    EXPECT_TRUE(S_ISLNK(entry(at(name)).st_mode)) << name;
    EXPECT_EQ(read(name), "artifact");
  }
  EXPECT_EQ(read("there/model.tsr") + read("victim"), "artifactartifact");
  link("circle", "circle");
  EXPECT_TRUE(writeOutput(at("circle"), {"artifact"}));
}

} // namespace
