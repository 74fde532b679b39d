//===- PruneTest.cpp - removing old checkpoints ---------------------------===//
#include "test/Runtime/fixture/Fixture.h"

#include <algorithm>
#include <filesystem>
#include <gtest/gtest.h>

using namespace fixture;
namespace fs = std::filesystem;

namespace {

class Prune : public ::testing::Test {
protected:
  /// Trains from the step that the session is at, saving before each.
  void saveUpTo(int64_t last) {
    for (int64_t step = tsr_session_next_step(training.session); step <= last;
         ++step) {
      ASSERT_EQ(tsr_session_save(training.session, path().c_str()), TSR_OK)
          << tsr_last_error();
      if (step < last)
        ASSERT_EQ(training.step(step), TSR_OK) << tsr_last_error();
    }
  }
  tsr_status prune(int64_t count) {
    return tsr_session_prune(training.session, path().c_str(), count);
  }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto &entry : fs::directory_iterator(path()))
      if (entry.path().filename() != ".lock")
        names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }
  std::string path() const { return directory.path; }

  using Names = std::vector<std::string>;
  TemporaryDirectory directory;
  Training training{2, 2};
};

TEST_F(Prune, KeepsTheNewest) {
  saveUpTo(3);
  ASSERT_EQ(prune(4), TSR_OK) << tsr_last_error();
  EXPECT_EQ(names().size(), 4u);
  ASSERT_EQ(prune(2), TSR_OK) << tsr_last_error();
  EXPECT_EQ(names(), (Names{"step-00000002", "step-00000003"}));
  std::vector<double> state = training.state();
  ASSERT_EQ(prune(1), TSR_OK) << tsr_last_error();
  EXPECT_EQ(names(), Names{"step-00000003"});
  ASSERT_EQ(tsr_session_load(training.session, path().c_str()), TSR_OK)
      << tsr_last_error();
  EXPECT_EQ(training.state(), state);
}

TEST_F(Prune, CountsAcrossRuns) {
  saveUpTo(2);
  fs::create_directory(directory / "other");
  for (const std::string &name : names())
    if (name != "other")
      fs::copy(directory / name, directory / ("other/" + name));
  Training second(1, 1);
  std::string other = directory / "other";
  ASSERT_EQ(tsr_session_load(second.session, other.c_str()), TSR_OK);
  ASSERT_EQ(second.step(2), TSR_OK);
  ASSERT_EQ(tsr_session_save(second.session, other.c_str()), TSR_OK);
  ASSERT_EQ(tsr_session_prune(second.session, other.c_str(), 2), TSR_OK);
  EXPECT_TRUE(fs::exists(other + "/step-00000003"));
  EXPECT_TRUE(fs::exists(other + "/step-00000002"));
  EXPECT_FALSE(fs::exists(other + "/step-00000001"));
}

/// Whoever resumes from an older one did not ask to lose the later ones.
TEST_F(Prune, LaterStepsAndIncompleteOnesStay) {
  saveUpTo(3);
  ASSERT_EQ(
      tsr_session_load(training.session, (directory / "step-00000001").c_str()),
      TSR_OK);
  fs::create_directory(directory / "step-00000000x");
  fs::remove(directory / "step-00000000/manifest.json");
  ASSERT_EQ(prune(1), TSR_OK) << tsr_last_error();
  EXPECT_EQ(names(), (Names{"step-00000000", "step-00000000x", "step-00000001",
                            "step-00000002", "step-00000003"}));
}

TEST_F(Prune, TheOldestGivesWayToTheNewest) {
  auto saveNewest = [&](int64_t count) {
    return tsr_session_save_newest(training.session, path().c_str(), count);
  };
  for (int64_t step = 0; step < 4; ++step) {
    ASSERT_EQ(saveNewest(3), TSR_OK) << tsr_last_error();
    ASSERT_EQ(training.step(step), TSR_OK) << tsr_last_error();
  }
  EXPECT_EQ(names(),
            (Names{"step-00000001", "step-00000002", "step-00000003"}));
  // One that is there already takes nobody's place.
  ASSERT_EQ(saveNewest(3), TSR_OK) << tsr_last_error();
  ASSERT_EQ(saveNewest(3), TSR_OK) << tsr_last_error();
  EXPECT_EQ(names(),
            (Names{"step-00000002", "step-00000003", "step-00000004"}));
  std::vector<double> state = training.state();
  ASSERT_EQ(tsr_session_load(training.session, path().c_str()), TSR_OK);
  EXPECT_EQ(training.state(), state);
  EXPECT_EQ(saveNewest(0), TSR_INVALID_ARGUMENT);
}

/// A process may be killed as soon as the names have changed.
TEST_F(Prune, WhatGaveWayIsRemovedLater) {
  saveUpTo(2);
  fs::rename(directory / "step-00000000", directory / ".step-00000000.tmp");
  ASSERT_EQ(prune(2), TSR_OK) << tsr_last_error();
  EXPECT_EQ(names(), (Names{"step-00000001", "step-00000002"}));
}

TEST_F(Prune, CountMustBePositive) {
  saveUpTo(1);
  for (int64_t count : {0, -1}) {
    EXPECT_EQ(prune(count), TSR_INVALID_ARGUMENT);
    EXPECT_CONTAINS(tsr_last_error(),
                    "must be at least 1, but are " + std::to_string(count));
  }
  EXPECT_EQ(names().size(), 2u);
}

TEST_F(Prune, AnotherRunsDirectoryIsRefused) {
  saveUpTo(1);
  Training second(1, 1);
  EXPECT_EQ(tsr_session_prune(second.session, path().c_str(), 1), TSR_IO);
  EXPECT_CONTAINS(tsr_last_error(), "is in use by another run");
  EXPECT_EQ(names().size(), 2u);
}

/// A leftover of a killed run has the name that a checkpoint gets on its way
/// out. What fails on that way is tested in test/Runtime/faults.
TEST_F(Prune, LeftoversAreReplaced) {
  saveUpTo(1);
  fs::create_directory(directory / ".step-00000000.tmp");
  writeFile(directory / ".step-00000000.tmp/model.safetensors", "half");
  ASSERT_EQ(prune(1), TSR_OK) << tsr_last_error();
  EXPECT_EQ(names(), Names{"step-00000001"});
}

} // namespace
