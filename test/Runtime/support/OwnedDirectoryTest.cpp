//===- OwnedDirectoryTest.cpp - one run per directory ---------------------===//
#include "runtime/support/OwnedDirectory.h"
#include "runtime/support/LockOwner.h"
#include "runtime/support/Status.h"
#include "test/Runtime/fixture/Fixture.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <memory>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace fixture;
using namespace tessera;
namespace fs = std::filesystem;

namespace {

/// Returns the message with which a second owner is refused; "" if it is not.
std::string refusal(const std::string &path) {
  try {
    OwnedDirectory second(path);
    return "";
  } catch (const Error &error) {
    EXPECT_EQ(error.status.code, TSR_IO);
    return error.what();
  }
}

std::string failureOf(const OwnedDirectory &owned) {
  try {
    owned.check();
    return "";
  } catch (const Error &error) {
    return error.what();
  }
}

TEST(OwnedDirectory, HasOneOwnerAtATime) {
  TemporaryDirectory directory;
  auto first = std::make_unique<OwnedDirectory>(directory / "a/b");
  std::string why = refusal(directory / "a/b");
  EXPECT_CONTAINS(why, "a/b' is in use by another run (process " +
                           std::to_string(getpid()) + " of user '");
  EXPECT_CONTAINS(why, "' on host '" + LockOwner::self().host + "'");
  EXPECT_CONTAINS(why, "save to another directory");
  EXPECT_EQ(failureOf(*first), "");
  first.reset();
  EXPECT_FALSE(fs::exists(directory / "a/b/.lock"));
  EXPECT_EQ(refusal(directory / "a/b"), "");
}

size_t openFiles() {
  return std::distance(fs::directory_iterator("/proc/self/fd"), {});
}

TEST(OwnedDirectory, KeepsNoFileOpenAfterItsEnd) {
  TemporaryDirectory directory;
  size_t before = openFiles();
  {
    OwnedDirectory owned(directory.path);
    EXPECT_EQ(openFiles(), before + 1);
    EXPECT_NE(refusal(directory.path), "");
    EXPECT_EQ(openFiles(), before + 1);
  }
  EXPECT_EQ(openFiles(), before);
}

/// Another process that owns the directory until it is killed.
class Owner {
public:
  explicit Owner(const std::string &path) {
    int ready[2];
    EXPECT_EQ(pipe(ready), 0);
    process = fork();
    if (process == 0) {
      OwnedDirectory owned(path);
      (void)!write(ready[1], "x", 1);
      for (;;)
        pause();
    }
    char byte;
    EXPECT_EQ(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
  }
  ~Owner() { kill(); }
  void kill() {
    if (process > 0) {
      ::kill(process, SIGKILL);
      waitpid(process, nullptr, 0);
    }
    process = 0;
  }

  pid_t process;
};

TEST(OwnedDirectory, IsFreeWhenItsOwnerWasKilled) {
  TemporaryDirectory directory;
  Owner owner(directory.path);
  EXPECT_CONTAINS(refusal(directory.path),
                  "process " + std::to_string(owner.process));
  owner.kill();
  EXPECT_TRUE(fs::exists(directory / ".lock"));
  EXPECT_EQ(refusal(directory.path), "");
}

TEST(OwnedDirectory, DamagedLockFilesNameNobody) {
  TemporaryDirectory directory;
  for (const std::string &text :
       {std::string("x"), std::string("{}"), std::string(100000, '['),
        std::string(R"({"process": -1})")}) {
    writeFile(directory / ".lock", text);
    EXPECT_EQ(refusal(directory.path), "");
  }
}

TEST(OwnedDirectory, LinksInPlaceOfTheLockAreNotFollowed) {
  TemporaryDirectory directory;
  writeFile(directory / "victim", "precious");
  fs::create_symlink(directory / "victim", directory / ".lock");
  EXPECT_CONTAINS(refusal(directory.path), "cannot create");
  EXPECT_EQ(readFile(directory / "victim"), "precious");
  fs::remove(directory / ".lock");
  fs::create_hard_link(directory / "victim", directory / ".lock");
  EXPECT_CONTAINS(refusal(directory.path), "it is no file of its own");
  fs::remove(directory / ".lock");
  ASSERT_EQ(mkfifo((directory / ".lock").c_str(), 0600), 0);
  EXPECT_CONTAINS(refusal(directory.path), "it is no file of its own");
  EXPECT_EQ(readFile(directory / "victim"), "precious");
}

TEST(OwnedDirectory, NoticesThatItIsAnotherOne) {
  TemporaryDirectory directory;
  std::string path = directory / "mount";
  OwnedDirectory owned(path);
  fs::rename(path, directory / "away");
  EXPECT_CONTAINS(failureOf(owned), "mount' is gone (device ");
  fs::create_directory(path);
  EXPECT_CONTAINS(failureOf(owned), "is another directory than at");
  fs::remove(path);
  fs::rename(directory / "away", path);
  EXPECT_EQ(failureOf(owned), "");
}

TEST(OwnedDirectory, NoticesThatItsLockIsGone) {
  TemporaryDirectory directory;
  OwnedDirectory owned(directory.path);
  fs::remove(directory / ".lock");
  EXPECT_CONTAINS(failureOf(owned), "was removed or taken");
  OwnedDirectory second(directory.path);
  EXPECT_CONTAINS(failureOf(owned), "was removed or taken");
  EXPECT_EQ(failureOf(second), "");
}

TEST(LockOwner, TextGoesThereAndBack) {
  LockOwner self = LockOwner::self();
  EXPECT_EQ(LockOwner::parse(self.text()).text(), self.text());
  EXPECT_TRUE(self.isRunning());
  LockOwner reused = self; // the number was given again
  reused.processStart += 1;
  EXPECT_FALSE(reused.isRunning());
}

double secondsSinceBoot() {
  double seconds = 0;
  std::ifstream("/proc/uptime") >> seconds;
  return seconds;
}

/// A number by which a process is known again counts from its start.
TEST(LockOwner, KnowsWhenItsProcessStarted) {
  double before = secondsSinceBoot();
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  pid_t child = fork();
  if (child == 0) {
    int64_t start = LockOwner::self().processStart;
    _exit(write(ends[1], &start, sizeof start) == sizeof start ? 0 : 1);
  }
  int64_t ticks = 0;
  ASSERT_EQ(read(ends[0], &ticks, sizeof ticks), ssize_t(sizeof ticks));
  double after = secondsSinceBoot();
  double start = static_cast<double>(ticks) / double(sysconf(_SC_CLK_TCK));
  EXPECT_GE(start, before - 0.1); // both are rounded to hundredths
  EXPECT_LE(start, after + 0.1);
  waitpid(child, nullptr, 0);
  close(ends[0]);
  close(ends[1]);
}

TEST(LockOwner, IsNamedAsTheSystemNamesIt) {
  LockOwner self = LockOwner::self();
  const passwd *user = getpwuid(geteuid());
  EXPECT_EQ(self.user, user ? user->pw_name : std::to_string(geteuid()));
  char host[256] = {};
  ASSERT_EQ(gethostname(host, sizeof host - 1), 0);
  EXPECT_EQ(self.host, host);
  EXPECT_EQ(self.process, getpid());
  EXPECT_GT(self.processStart, 0);
}

TEST(LockOwner, IsAnyProcessThereCanBe) {
  LockOwner first = LockOwner::self(); // number 1: alone in its container
  for (int64_t number : {1, 2}) {
    first.process = number;
    EXPECT_EQ(LockOwner::parse(first.text()).process, number);
  }
  first.processStart = 0;
  EXPECT_EQ(LockOwner::parse(first.text()).process, 2);
  EXPECT_EQ(LockOwner::parse(first.text()).host, first.host);
  first.processStart = -1;
  EXPECT_EQ(LockOwner::parse(first.text()).host, "");
  first.process = 0;
  EXPECT_EQ(LockOwner::parse(first.text()).host, "");
}

TEST(LockOwner, DecidesWhetherALockIsInUse) {
  LockOwner self = LockOwner::self(), nobody, dead = self, remote = self;
  dead.processStart += 1;
  remote.host += "-other";
  // The system released it.
  EXPECT_FALSE(isInUse(nobody, self, FileLock::Granted, true));
  EXPECT_FALSE(isInUse(dead, self, FileLock::Granted, false));
  EXPECT_FALSE(isInUse(remote, self, FileLock::Granted, true));
  // It was granted on this host; the other one may hold it all the same.
  EXPECT_TRUE(isInUse(remote, self, FileLock::Granted, false));
  EXPECT_TRUE(isInUse(nobody, self, FileLock::Held, true));
  // Without locks what counts is whether the process runs.
  EXPECT_TRUE(isInUse(self, self, FileLock::Unsupported, true));
  EXPECT_FALSE(isInUse(dead, self, FileLock::Unsupported, true));
  EXPECT_TRUE(isInUse(remote, self, FileLock::Unsupported, true));
}

} // namespace
