//===- UserSecretTest.cpp - the file by which a user's processes meet -----===//
#include "runtime/support/UserSecret.h"
#include "runtime/support/Status.h"
#include "test/Runtime/fixture/Fixture.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace tessera;
using namespace fixture;

namespace {

#if TESSERA_HAS_LIBCRYPTO

class UserSecret : public testing::Test {
protected:
  UserSecret() {
    const char *state = std::getenv("XDG_STATE_HOME");
    before = state ? state : "";
    setenv("XDG_STATE_HOME", (directory / "state").c_str(), 1);
  }
  ~UserSecret() override {
    before.empty() ? unsetenv("XDG_STATE_HOME")
                   : setenv("XDG_STATE_HOME", before.c_str(), 1);
  }
  std::string path() const {
    return directory / "state/tessera/rendezvous-secret";
  }
  void expectRefused(const std::string &why) {
    try {
      userSecret();
      ADD_FAILURE() << why;
    } catch (const Error &error) {
      EXPECT_EQ(error.status.code, TSR_INVALID_ARGUMENT);
      EXPECT_EQ(error.status.message,
                "'" + path() +
                    "', by which processes of one user know each "
                    "other, " +
                    why +
                    "; remove it, or set TESSERA_SECRET or --secret-file");
    }
  }

  TemporaryDirectory directory;
  std::string before;
};

TEST_F(UserSecret, IsMadeOnceForTheUserAlone) {
  std::vector<std::string> secrets(8);
  std::vector<std::thread> threads;
  for (std::string &secret : secrets)
    threads.emplace_back([&] { secret = userSecret(); });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(secrets[0].size(), 64u);
  for (const std::string &secret : secrets)
    EXPECT_EQ(secret, secrets[0]);
  EXPECT_EQ(readFile(path()), secrets[0]);
  struct stat status {};
  ASSERT_EQ(stat(path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777u, 0600u);
  ASSERT_EQ(stat((directory / "state/tessera").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777u, 0700u);
  for (const auto &entry :
       std::filesystem::directory_iterator(directory / "state/tessera"))
    EXPECT_EQ(entry.path(), path());
}

TEST_F(UserSecret, IsAnotherForEachUser) {
  std::string first = userSecret();
  std::filesystem::remove(path());
  EXPECT_NE(userSecret(), first);
}

TEST_F(UserSecret, FilesOfOthersAreRefused) {
  std::string secret = userSecret();
  chmod(path().c_str(), 0640);
  expectRefused("may be used by others");
  chmod(path().c_str(), 0600);
  writeFile(path(), "short");
  expectRefused("holds no secret");
  writeFile(path(), secret + "\n");
  expectRefused("holds no secret");
  std::filesystem::rename(path(), directory / "elsewhere");
  symlink((directory / "elsewhere").c_str(), path().c_str());
  expectRefused("cannot be read: Too many levels of symbolic links");
  std::filesystem::remove(path());
  mkfifo(path().c_str(), 0600);
  expectRefused("is no regular file");
}

TEST_F(UserSecret, WithoutAPlaceThereIsNone) {
  writeFile(directory / "state", "a file");
  EXPECT_EQ(userSecret(), "");
}

#endif

} // namespace
