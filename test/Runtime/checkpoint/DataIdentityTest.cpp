//===- DataIdentityTest.cpp - checkpoints know their data -----------------===//
#include "test/Runtime/fixture/Fixture.h"

#include <filesystem>
#include <gtest/gtest.h>

using namespace fixture;

namespace {

struct Choice {
  std::vector<std::string> names;
  std::vector<double> weights;
  double fraction = 0;
  const char *part = nullptr;
};

class CheckpointData : public testing::Test {
protected:
  CheckpointData() {
    writeFile(directory / "a.txt", std::string(100, 'a'));
    writeFile(directory / "b.txt", std::string(60, 'b') + "end");
  }

  tsr_status bind(Training &training, const Choice &choice,
                  decltype(tsr_session_use_data) *how = tsr_session_use_data) {
    std::vector<std::string> paths;
    std::vector<const char *> names;
    for (const std::string &name : choice.names)
      paths.push_back(directory / name);
    for (const std::string &path : paths)
      names.push_back(path.c_str());
    tsr_data_options options = {};
    options.size = sizeof options;
    options.sequence = 4;
    options.vocabulary = 256;
    options.weights = choice.weights.empty() ? nullptr : choice.weights.data();
    options.validation_fraction = choice.fraction;
    options.part = choice.part;
    tsr_data *data = nullptr;
    EXPECT_EQ(tsr_data_open(names.data(), names.size(), &options, &data),
              TSR_OK)
        << tsr_last_error();
    tsr_status status = how(training.session, data);
    tsr_data_destroy(data);
    return status;
  }

  /// Saves a checkpoint of a run on this data.
  void save(const Choice &choice) {
    Training training(1, 1);
    ASSERT_EQ(bind(training, choice), TSR_OK) << tsr_last_error();
    ASSERT_EQ(tsr_session_save(training.session, checkpoints().c_str()), TSR_OK)
        << tsr_last_error();
  }

  /// Loading and binding in either order; the message of the last error.
  tsr_status resume(const Choice &choice) {
    Training first(1, 1), second(2, 2);
    EXPECT_EQ(tsr_session_load(first.session, checkpoints().c_str()), TSR_OK)
        << tsr_last_error();
    tsr_status status = bind(first, choice);
    std::string message = status == TSR_OK ? "" : tsr_last_error();
    EXPECT_EQ(bind(second, choice), TSR_OK) << tsr_last_error();
    std::vector<double> before = second.state();
    EXPECT_EQ(tsr_session_load(second.session, checkpoints().c_str()), status);
    if (status != TSR_OK) {
      EXPECT_EQ(tsr_last_error(), message);
      EXPECT_EQ(second.state(), before); // nothing is written
    }
    return status;
  }

  void expectRefused(const Choice &choice, const std::string &message) {
    EXPECT_EQ(resume(choice), TSR_MISMATCH) << message;
    EXPECT_CONTAINS(tsr_last_error(),
                    "the data is not what the checkpoint was trained on: " +
                        message);
    EXPECT_CONTAINS(tsr_last_error(), "; give the same files, weights and "
                                      "validation fraction, or go on with "
                                      "other data by --change-data");
  }

  std::string checkpoints() const { return directory / "ck"; }

  TemporaryDirectory directory;
};

TEST_F(CheckpointData, TheSameDataIsTaken) {
  save({{"a.txt", "b.txt"}, {0.7, 0.3}, 0.2});
  EXPECT_EQ(resume({{"a.txt", "b.txt"}, {0.7, 0.3}, 0.2}), TSR_OK);
  EXPECT_EQ(resume({{"a.txt", "b.txt"}, {7, 3}, 0.2}), TSR_OK); // the ratio
  std::filesystem::rename(directory / "b.txt", directory / "c.txt");
  EXPECT_EQ(resume({{"a.txt", "c.txt"}, {0.7, 0.3}, 0.2}), TSR_OK);
}

TEST_F(CheckpointData, OtherDataIsRefused) {
  save({{"a.txt", "b.txt"}, {0.7, 0.3}, 0.2});
  expectRefused({{"a.txt"}, {0.7}, 0.2}, "the number of files is 1, it was 2");
  expectRefused({{"a.txt", "b.txt"}, {0.6, 0.4}, 0.2},
                "file 1 ('a.txt') has 3 of the shares, it had 7");
  expectRefused({{"a.txt", "b.txt"}, {}, 0.2},
                "file 1 ('a.txt') has 0 of the shares, it had 7");
  expectRefused({{"b.txt", "a.txt"}, {0.7, 0.3}, 0.2},
                "file 1 is 'b.txt' of 63 tokens (hash ");
  expectRefused(
      {{"a.txt", "b.txt"}, {0.7, 0.3}, 0.1},
      "file 1 ('a.txt') gives tokens 0 to 90, it gave tokens 0 to 80");
  expectRefused({{"a.txt", "b.txt"}, {0.7, 0.3}, 0.2, "validation"},
                "file 1 ('a.txt') gives tokens 80 to 100, it gave tokens 0 to "
                "80");
  // The length is that of before, but the last token is another one.
  writeFile(directory / "b.txt", std::string(60, 'b') + "enD");
  expectRefused({{"a.txt", "b.txt"}, {0.7, 0.3}, 0.2},
                "file 2 is 'b.txt' of 63 tokens (hash ");
}

/// Both ends are as before, and there are as many tokens.
TEST_F(CheckpointData, ATokenInTheMiddleIsNoticed) {
  std::string text(300'000, 'a');
  writeFile(directory / "a.txt", text);
  save({{"a.txt"}, {}, 0});
  EXPECT_EQ(resume({{"a.txt"}, {}, 0}), TSR_OK);
  text[150'000] = 'b';
  writeFile(directory / "a.txt", text);
  expectRefused({{"a.txt"}, {}, 0},
                "file 1 is 'a.txt' of 300000 tokens (hash ");
}

TEST_F(CheckpointData, OtherDataIsTakenIfThatIsSaid) {
  save({{"a.txt"}, {}, 0});
  Training training(1, 1);
  ASSERT_EQ(tsr_session_load(training.session, checkpoints().c_str()), TSR_OK);
  ASSERT_EQ(bind(training, {{"b.txt"}, {}, 0}), TSR_MISMATCH);
  ASSERT_EQ(bind(training, {{"b.txt"}, {}, 0}, tsr_session_change_data), TSR_OK)
      << tsr_last_error();
  ASSERT_EQ(tsr_session_save(training.session, checkpoints().c_str()), TSR_OK);
  EXPECT_EQ(resume({{"b.txt"}, {}, 0}), TSR_OK);
  expectRefused({{"a.txt"}, {}, 0}, "file 1 is 'a.txt' of 100 tokens");
}

TEST_F(CheckpointData, ACheckpointMayNameNoData) {
  Training training(1, 1);
  ASSERT_EQ(tsr_session_save(training.session, checkpoints().c_str()), TSR_OK);
  EXPECT_EQ(resume({{"a.txt"}, {}, 0}), TSR_OK);
}

/// Names of files are bytes on Linux.
TEST_F(CheckpointData, AFileMayHaveAnyName) {
  writeFile(directory / "\xFF\"\n.txt", std::string(50, 'c'));
  save({{"\xFF\"\n.txt"}, {}, 0});
  EXPECT_EQ(resume({{"\xFF\"\n.txt"}, {}, 0}), TSR_OK);
}

} // namespace
