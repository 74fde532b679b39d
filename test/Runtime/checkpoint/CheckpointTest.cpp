//===- CheckpointTest.cpp - saving, resuming, damage ----------------------===//
#include "test/Runtime/fixture/Fixture.h"
#include "test/Runtime/fixture/FixtureLayout.h"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

using namespace fixture;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

std::string stepDirectory(const std::string &directory, int step) {
  char name[32];
  std::snprintf(name, sizeof name, "/step-%08d", step);
  return directory + name;
}

void steps(Training &training, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i)
    ASSERT_EQ(training.step(i), TSR_OK) << tsr_last_error();
}

/// Names in a directory, its lock aside.
std::vector<std::string> namesIn(const std::string &directory) {
  std::vector<std::string> names;
  for (const auto &entry : fs::directory_iterator(directory))
    if (entry.path().filename() != ".lock")
      names.push_back(entry.path().filename());
  return names;
}

tsr_status save(Training &training, const std::string &directory) {
  return tsr_session_save(training.session, directory.c_str());
}
tsr_status load(Training &training, const std::string &directory) {
  return tsr_session_load(training.session, directory.c_str());
}

TEST(Checkpoint, ResumeIsBitIdentical) {
  TemporaryDirectory directory;
  Training whole(2, 2), first(2, 2);
  steps(whole, 0, 8);
  steps(first, 0, 3);
  ASSERT_EQ(save(first, directory.path), TSR_OK) << tsr_last_error();
  tsr_session_options other = {};
  other.seed = 99; // replaced by the checkpoint's
  Training second(2, 2, other);
  ASSERT_EQ(load(second, directory.path), TSR_OK) << tsr_last_error();
  EXPECT_EQ(tsr_session_next_step(second.session), 3);
  EXPECT_EQ(second.state(), first.state());
  steps(second, 3, 8);
  EXPECT_EQ(second.state(), whole.state());
}

TEST(Checkpoint, SeedIsRestored) {
  TemporaryDirectory directory;
  tsr_session_options five = {}, nine = {};
  five.seed = 5;
  nine.seed = 9;
  Training saved(1, 1, five), loaded(1, 1, nine);
  std::vector<double> initial = saved.state();
  ASSERT_EQ(save(saved, directory.path), TSR_OK);
  ASSERT_EQ(load(loaded, directory.path), TSR_OK);
  EXPECT_EQ(tsr_session_seed(loaded.session), 5);
  ASSERT_EQ(tsr_session_init(loaded.session), TSR_OK); // draws from the seed
  EXPECT_EQ(loaded.state(), initial);
}

/// Rewrites a manifest. Its hash is that of its text without the hash.
void changeManifest(const std::string &checkpoint,
                    const std::function<void(json &)> &change) {
  json manifest = json::parse(readFile(checkpoint + "/manifest.json"));
  manifest.erase("hash");
  change(manifest);
  std::string rest = manifest.dump();
  char hash[17];
  std::snprintf(
      hash, sizeof hash, "%016llx",
      static_cast<unsigned long long>(XXH3_64bits(rest.data(), rest.size())));
  manifest["hash"] = hash;
  writeFile(checkpoint + "/manifest.json", manifest.dump(1) + "\n");
}

TEST(Checkpoint, SequencesGoOnWithAnotherBatch) {
  TemporaryDirectory directory;
  Training saved(1, 1), loaded(1, 1);
  int64_t batch = tsr_artifact_batch(saved.artifact);
  steps(saved, 0, 3);
  EXPECT_EQ(tsr_session_sequences(saved.session), 3 * batch);
  ASSERT_EQ(save(saved, directory.path), TSR_OK);
  changeManifest(stepDirectory(directory.path, 3),
                 [](json &manifest) { manifest["sequences_read"] = 7; });
  ASSERT_EQ(load(loaded, directory.path), TSR_OK) << tsr_last_error();
  EXPECT_EQ(tsr_session_sequences(loaded.session), 7);
  steps(loaded, 3, 4);
  EXPECT_EQ(tsr_session_sequences(loaded.session), 7 + batch);
}

TEST(Checkpoint, AnOlderOneCountsSteps) {
  TemporaryDirectory directory;
  Training saved(1, 1), loaded(1, 1);
  steps(saved, 0, 3);
  ASSERT_EQ(save(saved, directory.path), TSR_OK);
  changeManifest(stepDirectory(directory.path, 3), [](json &manifest) {
    for (const char *key : {"sequences_read", "sequence_length",
                            "target_length", "model_keys", "training_keys"})
      manifest.erase(key);
  });
  ASSERT_EQ(load(loaded, directory.path), TSR_OK) << tsr_last_error();
  EXPECT_EQ(loaded.state(), saved.state());
  EXPECT_EQ(tsr_session_sequences(loaded.session),
            3 * tsr_artifact_batch(loaded.artifact));
  EXPECT_CONTAINS(tsr_session_notes(loaded.session),
                  "3 steps are taken for as many batches of ");
}

TEST(Checkpoint, AnOlderOneHasNamesOfBefore) {
  TemporaryDirectory directory;
  auto named = [](const char *name) -> Change {
    return [=](json &metadata) {
      for (json &tensor : metadata["tensors"])
        if (tensor["name"] == "transformer.bias")
          tensor["name"] = name;
    };
  };
  const char *before = "cls.predictions.bias",
             *now = "cls.predictions.decoder.bias";
  Training saved(1, 1, {}, named(before)), loaded(1, 1, {}, named(now));
  steps(saved, 0, 2);
  ASSERT_EQ(save(saved, directory.path), TSR_OK) << tsr_last_error();
  ASSERT_EQ(load(loaded, directory.path), TSR_OK) << tsr_last_error();
  for (const char *role : {"parameter", "moment1", "moment2"})
    EXPECT_EQ(loaded.read(role, now, 1), saved.read(role, before, 1)) << role;
}

TEST(Checkpoint, AnotherModelIsRefused) {
  TemporaryDirectory directory;
  auto model = [](int heads, double dropout) -> Change {
    return [=](json &metadata) {
      metadata["model_keys"] = {{"heads", heads}, {"model_type", "fixture"}};
      metadata["training_keys"] = {{"dropout", dropout}};
    };
  };
  Training saved(1, 1, {}, model(4, 0)), same(1, 1, {}, model(4, 0.5)),
      other(1, 1, {}, model(2, 0)), unknown(1, 1);
  steps(saved, 0, 2);
  ASSERT_EQ(save(saved, directory.path), TSR_OK);
  std::vector<double> before = other.state();
  ASSERT_EQ(load(other, directory.path), TSR_MISMATCH);
  EXPECT_CONTAINS(tsr_last_error(), "is of another model: its 'heads' is 4, "
                                    "that of the model here 2");
  ASSERT_EQ(tsr_session_load_weights(other.session, directory.path.c_str()),
            TSR_MISMATCH);
  EXPECT_CONTAINS(tsr_last_error(), "its 'heads' is 4");
  EXPECT_EQ(other.state(), before);
  ASSERT_EQ(load(same, directory.path), TSR_OK) << tsr_last_error();
  EXPECT_CONTAINS(tsr_session_notes(same.session),
                  "'dropout' of the config is 0.5 instead of 0.0");
  EXPECT_EQ(load(unknown, directory.path), TSR_OK) << tsr_last_error();
}

TEST(Checkpoint, ADirectoryMayBeOneItself) {
  TemporaryDirectory directory;
  Training training(2, 2), loaded(1, 1);
  std::string best = directory / "best";
  ASSERT_EQ(tsr_session_save_as(training.session, best.c_str()), TSR_OK)
      << tsr_last_error();
  steps(training, 0, 2);
  ASSERT_EQ(tsr_session_save_as(training.session, best.c_str()), TSR_OK)
      << tsr_last_error();
  EXPECT_EQ(namesIn(directory.path), std::vector<std::string>{"best"});
  ASSERT_EQ(load(loaded, best), TSR_OK) << tsr_last_error();
  EXPECT_EQ(tsr_session_next_step(loaded.session), 2);
  EXPECT_EQ(loaded.state(), training.state());
  // Neither files nor a run's directory that holds them are removed.
  for (const char *file : {"mine/notes.txt", "app/manifest.json"}) {
    fs::path path = fs::path(directory.path) / file;
    fs::create_directory(path.parent_path());
    writeFile(path, "keep me");
    EXPECT_EQ(tsr_session_save_as(training.session, path.parent_path().c_str()),
              TSR_INVALID_ARGUMENT);
    EXPECT_CONTAINS(tsr_last_error(), "holds other files; move it away");
    EXPECT_EQ(readFile(path), "keep me");
  }
  std::string run = directory / "run";
  ASSERT_EQ(save(training, run), TSR_OK) << tsr_last_error();
  EXPECT_EQ(tsr_weights_find(run.c_str()), TSR_OK) << tsr_last_error();
  writeFile(run + "/log.jsonl", "keep me");
  EXPECT_EQ(tsr_session_save_as(training.session, run.c_str()),
            TSR_INVALID_ARGUMENT);
  EXPECT_EQ(readFile(run + "/log.jsonl"), "keep me");
}

TEST(Checkpoint, RecordsAreKept) {
  TemporaryDirectory directory, later;
  Training first(1, 1), second(1, 1);
  ASSERT_EQ(tsr_session_set_record(first.session, "a", R"({"b": [1, null]})"),
            TSR_OK);
  EXPECT_EQ(tsr_session_set_record(first.session, "c", "{"), TSR_CORRUPT);
  ASSERT_EQ(save(first, directory.path), TSR_OK);
  ASSERT_EQ(load(second, directory.path), TSR_OK) << tsr_last_error();
  steps(second, 0, 1);
  ASSERT_EQ(save(second, later.path), TSR_OK) << tsr_last_error();
  tsr_checkpoint *checkpoint = nullptr;
  ASSERT_EQ(tsr_checkpoint_open(later.path.c_str(), &checkpoint), TSR_OK)
      << tsr_last_error();
  EXPECT_EQ(tsr_checkpoint_path(checkpoint), stepDirectory(later.path, 1));
  EXPECT_EQ(json::parse(tsr_checkpoint_manifest(checkpoint))["records"],
            json::parse(R"({"a": {"b": [1, null]}})"));
  tsr_checkpoint_destroy(checkpoint);
  EXPECT_EQ(tsr_checkpoint_open((directory / "none").c_str(), &checkpoint),
            TSR_NOT_FOUND);
}

TEST(Checkpoint, TakesTheModelsFilesAlong) {
  TemporaryDirectory directory, folder;
  fs::create_directories(folder / "1_Pooling");
  fs::create_directories(folder / "2_Normalize");
  const std::string names[] = {"tokenizer.json", "modules.json",
                               "1_Pooling/config.json"};
  for (const std::string &name : names)
    writeFile(folder / name, name);
  writeFile(folder / "notes.txt", "not of the model");
  Training training(1, 1);
  ASSERT_EQ(tsr_session_set_model_folder(training.session, folder.path.c_str()),
            TSR_OK)
      << tsr_last_error();
  fs::remove_all(folder.path); // they were read
  ASSERT_EQ(save(training, directory.path), TSR_OK) << tsr_last_error();
  std::string step = stepDirectory(directory.path, 0);
  for (const std::string &name : names)
    EXPECT_EQ(readFile(step + "/" + name), name);
  EXPECT_TRUE(fs::is_directory(step + "/2_Normalize"));
  EXPECT_FALSE(fs::exists(step + "/notes.txt"));
}

TEST(Checkpoint, LoadsOnEveryMesh) {
  TemporaryDirectory directory;
  Training saved(2, 2), serial(1, 1), wide(1, 4);
  steps(saved, 0, 2);
  ASSERT_EQ(save(saved, directory.path), TSR_OK);
  ASSERT_EQ(load(serial, directory.path), TSR_OK) << tsr_last_error();
  ASSERT_EQ(load(wide, directory.path), TSR_OK) << tsr_last_error();
  EXPECT_EQ(serial.state(), saved.state());
  EXPECT_EQ(wide.state(), saved.state());
}

TEST(Checkpoint, FilesDoNotDependOnTheMesh) {
  TemporaryDirectory one, two;
  Training serial(1, 1), wide(1, 4);
  ASSERT_EQ(save(serial, one.path), TSR_OK);
  ASSERT_EQ(save(wide, two.path), TSR_OK);
  for (const char *name :
       {"/model.safetensors", "/optimizer.safetensors", "/manifest.json"})
    EXPECT_EQ(readFile(stepDirectory(one.path, 0) + name),
              readFile(stepDirectory(two.path, 0) + name));
}

TEST(Checkpoint, NamesAndShapesAreThoseOfTheFile) {
  TemporaryDirectory directory;
  Training training(1, 4);
  ASSERT_EQ(save(training, directory.path), TSR_OK);
  std::string model =
      readFile(stepDirectory(directory.path, 0) + "/model.safetensors");
  uint64_t length;
  std::memcpy(&length, model.data(), 8);
  json header = json::parse(model.substr(8, length));
  EXPECT_EQ(header["transformer.w"]["shape"], (json{V / 2, 2}));
  EXPECT_EQ(header["transformer.w"]["dtype"], "F32");
  EXPECT_EQ(model.size(), 8 + length + (V + 1) * 4);
}

TEST(Checkpoint, NewestCompleteOneIsLoaded) {
  TemporaryDirectory directory;
  Training training(1, 1);
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(save(training, directory.path), TSR_OK);
    steps(training, i, i + 1);
  }
  fs::remove(stepDirectory(directory.path, 2) + "/manifest.json");
  fs::create_directory(directory / ".step-00000009.tmp");
  ASSERT_EQ(load(training, directory.path), TSR_OK) << tsr_last_error();
  EXPECT_EQ(tsr_session_next_step(training.session), 1);
  ASSERT_EQ(load(training, stepDirectory(directory.path, 0)), TSR_OK);
  EXPECT_EQ(tsr_session_next_step(training.session), 0);
}

TEST(Checkpoint, SavingTwiceReplaces) {
  TemporaryDirectory directory;
  Training training(1, 1);
  ASSERT_EQ(save(training, directory.path), TSR_OK);
  training.write("parameter", "transformer.bias", {42});
  ASSERT_EQ(save(training, directory.path), TSR_OK) << tsr_last_error();
  ASSERT_EQ(tsr_session_init(training.session), TSR_OK);
  ASSERT_EQ(load(training, directory.path), TSR_OK);
  EXPECT_EQ(training.read("parameter", "transformer.bias", 1)[0], 42);
  EXPECT_EQ(namesIn(directory.path).size(), 1u);
}

TEST(Checkpoint, TwoRunsDoNotShareADirectory) {
  TemporaryDirectory directory;
  Training second(1, 1);
  {
    Training first(1, 1);
    ASSERT_EQ(save(first, directory.path), TSR_OK) << tsr_last_error();
    steps(second, 0, 1);
    EXPECT_EQ(tsr_session_claim(second.session, directory.path.c_str()),
              TSR_IO);
    EXPECT_EQ(save(second, directory.path), TSR_IO);
    EXPECT_CONTAINS(tsr_last_error(), "is in use by another run (process " +
                                          std::to_string(getpid()));
    EXPECT_EQ(namesIn(directory.path),
              std::vector<std::string>{"step-00000000"});
    ASSERT_EQ(load(second, directory.path), TSR_OK) << tsr_last_error();
  }
  EXPECT_EQ(save(second, directory.path), TSR_OK) << tsr_last_error();
}

TEST(Checkpoint, ClaimMakesTheDirectoryAndKeepsIt) {
  TemporaryDirectory directory;
  Training first(1, 1), second(1, 1);
  std::string path = directory / "new/one";
  ASSERT_EQ(tsr_session_claim(first.session, path.c_str()), TSR_OK)
      << tsr_last_error();
  EXPECT_EQ(tsr_session_claim(first.session, path.c_str()), TSR_OK);
  EXPECT_EQ(save(second, path), TSR_IO);
  EXPECT_EQ(save(first, path), TSR_OK) << tsr_last_error();
}

TEST(Checkpoint, ADirectoryThatVanishedIsNotMadeAgain) {
  TemporaryDirectory directory;
  Training training(1, 1);
  std::string path = directory / "mount";
  ASSERT_EQ(save(training, path), TSR_OK) << tsr_last_error();
  steps(training, 0, 1);
  fs::rename(path, directory / "away");
  EXPECT_EQ(save(training, path), TSR_IO);
  EXPECT_CONTAINS(tsr_last_error(), "mount its file system again");
  EXPECT_FALSE(fs::exists(path));
  fs::create_directory(path); // the directory below the mount
  EXPECT_EQ(save(training, path), TSR_IO);
  EXPECT_TRUE(fs::is_empty(path));
  fs::remove(path);
  fs::rename(directory / "away", path);
  EXPECT_EQ(save(training, path), TSR_OK) << tsr_last_error();
}

TEST(Checkpoint, LeftoversOfKilledRunsAreRemoved) {
  TemporaryDirectory directory;
  fs::create_directory(directory / ".step-00000009.tmp");
  writeFile(directory / ".step-00000009.tmp/model.safetensors", "half");
  Training training(1, 1);
  ASSERT_EQ(save(training, directory.path), TSR_OK);
  EXPECT_EQ(namesIn(directory.path), std::vector<std::string>{"step-00000000"});
}

TEST(Checkpoint, NothingThereIsNotFound) {
  TemporaryDirectory directory;
  Training training(1, 1);
  EXPECT_EQ(load(training, directory.path), TSR_NOT_FOUND);
  EXPECT_EQ(load(training, directory / "absent"), TSR_NOT_FOUND);
}

/// Changes a copy of a good checkpoint and expects that it is refused and the
/// session unchanged.
struct Damage {
  const char *name;
  const char *file;
  std::function<std::string(std::string)> change;
  tsr_status status;
  const char *message;
};

std::string flip(std::string content, size_t position) {
  content[position] ^= 16;
  return content;
}

const Damage damages[] = {
    {"ModelTruncated", "model.safetensors",
     [](std::string s) { return s.substr(0, s.size() - 5); }, TSR_CORRUPT,
     "bytes, the manifest says"},
    {"ModelEmpty", "model.safetensors", [](std::string) { return ""; },
     TSR_CORRUPT, "has 0 bytes, the manifest says"},
    {"ModelDataFlipped", "model.safetensors",
     [](std::string s) { return flip(s, s.size() - 3); }, TSR_CORRUPT,
     "has hash"},
    {"ModelHeaderFlipped", "model.safetensors",
     [](std::string s) { return flip(s, 20); }, TSR_CORRUPT, "has hash"},
    {"OptimizerFlipped", "optimizer.safetensors",
     [](std::string s) { return flip(s, s.size() / 2); }, TSR_CORRUPT,
     "optimizer.safetensors' has hash"},
    {"ManifestTruncated", "manifest.json",
     [](std::string s) { return s.substr(0, s.size() / 2); }, TSR_CORRUPT,
     "is not JSON"},
    {"ManifestEmpty", "manifest.json", [](std::string) { return ""; },
     TSR_CORRUPT, "is not JSON"},
    {"ManifestStepChanged", "manifest.json",
     [](std::string s) {
       return s.replace(s.find("\"step\": 1"), 9, "\"step\": 2");
     },
     TSR_CORRUPT, "the manifest is altered"},
    {"ManifestIsDeep", "manifest.json",
     [](std::string s) {
       std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
       return s.replace(s.find('{'), 1, "{\"x\": " + deep + ",");
     },
     TSR_CORRUPT, "deep"},
    {"ManifestIsHuge", "manifest.json",
     [](std::string s) { return s + std::string(17'000'000, ' '); },
     TSR_CORRUPT, "a manifest has at most"},
    {"ManifestIsAList", "manifest.json", [](std::string) { return "[1]"; },
     TSR_CORRUPT, "must be an object"}};

class CheckpointDamage : public ::testing::TestWithParam<Damage> {};

TEST_P(CheckpointDamage, IsRefused) {
  const Damage &damage = GetParam();
  TemporaryDirectory directory;
  Training training(2, 2);
  steps(training, 0, 1);
  ASSERT_EQ(save(training, directory.path), TSR_OK);
  std::string path = stepDirectory(directory.path, 1) + "/" + damage.file;
  writeFile(path, damage.change(readFile(path)));
  steps(training, 1, 2);
  std::vector<double> before = training.state();
  EXPECT_EQ(load(training, directory.path), damage.status);
  EXPECT_CONTAINS(tsr_last_error(), damage.message);
  EXPECT_EQ(training.state(), before);
  EXPECT_EQ(tsr_session_next_step(training.session), 2);
}

INSTANTIATE_TEST_SUITE_P(Matrix, CheckpointDamage, ::testing::ValuesIn(damages),
                         [](const auto &info) { return info.param.name; });

TEST(Checkpoint, MissingFileIsNotFound) {
  TemporaryDirectory directory;
  Training training(1, 1);
  ASSERT_EQ(save(training, directory.path), TSR_OK);
  fs::remove(stepDirectory(directory.path, 0) + "/optimizer.safetensors");
  EXPECT_EQ(load(training, directory.path), TSR_NOT_FOUND);
  EXPECT_CONTAINS(tsr_last_error(), "optimizer.safetensors");
}

/// Another artifact of the 1x1 program loads a checkpoint of the usual one.
std::string loadByOther(const Change &change) {
  TemporaryDirectory directory;
  Training training(1, 1), other(1, 1, {}, change);
  EXPECT_EQ(save(training, directory.path), TSR_OK);
  EXPECT_EQ(load(other, directory.path), TSR_MISMATCH);
  return tsr_last_error();
}

TEST(Checkpoint, MissingTensorIsNamed) {
  EXPECT_CONTAINS(loadByOther([](json &m) {
                    for (json &tensor : m["tensors"])
                      if (tensor["name"] == "transformer.bias")
                        tensor["name"] = "transformer.shift";
                  }),
                  "has no tensor 'transformer.shift'");
}

TEST(Checkpoint, ShapeMismatchIsNamed) {
  EXPECT_CONTAINS(loadByOther([](json &m) {
                    for (json &tensor : m["tensors"])
                      tensor.erase("file_shape");
                  }),
                  "'transformer.w' has shape [5, 2], the artifact has [10]");
}

TEST(Checkpoint, DtypeMismatchIsNamed) {
  EXPECT_CONTAINS(
      loadByOther([](json &m) { m["tensors"][0]["dtype"] = "bf16"; }),
      "'transformer.w' is F32, the artifact has BF16");
}

TEST(Checkpoint, ExtraTensorIsNamed) {
  EXPECT_CONTAINS(loadByOther([](json &m) {
                    m["tensors"].erase(5); // bias, moment2
                  }),
                  "has a tensor 'transformer.bias.moment2'");
}

TEST(Checkpoint, NanIsNamed) {
  TemporaryDirectory directory;
  Training training(1, 1);
  std::vector<double> w(V, 1);
  w[7] = NAN;
  training.write("parameter", "transformer.w", w);
  ASSERT_EQ(save(training, directory.path), TSR_OK);
  EXPECT_EQ(load(training, directory.path), TSR_CORRUPT);
  EXPECT_CONTAINS(tsr_last_error(), "element 7 of 10 of 'transformer.w' is");
}

class FileSizeLimit {
public:
  explicit FileSizeLimit(rlim_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    rlimit limit = {bytes, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() { setrlimit(RLIMIT_FSIZE, &before); }

private:
  rlimit before;
};

TEST(Checkpoint, FullDiskLeavesTheOldOne) {
  TemporaryDirectory directory;
  Training training(1, 1);
  ASSERT_EQ(save(training, directory.path), TSR_OK);
  std::vector<double> saved = training.state();
  steps(training, 0, 1);
  {
    FileSizeLimit limit(100);
    EXPECT_EQ(save(training, directory.path), TSR_IO);
  }
  EXPECT_CONTAINS(tsr_last_error(), "cannot write");
  EXPECT_CONTAINS(tsr_last_error(), "model.safetensors");
  EXPECT_EQ(namesIn(directory.path).size(), 1u);
  ASSERT_EQ(load(training, directory.path), TSR_OK) << tsr_last_error();
  EXPECT_EQ(training.state(), saved);
}

TEST(Checkpoint, DirectoryThatIsAFileIsAnError) {
  TemporaryDirectory directory;
  Training training(1, 1);
  writeFile(directory / "file", "x");
  EXPECT_EQ(save(training, directory / "file"), TSR_IO);
}

} // namespace
