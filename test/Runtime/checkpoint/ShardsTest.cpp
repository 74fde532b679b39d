//===- ShardsTest.cpp - weights in several files, and their config.json ---===//
#include "test/Runtime/checkpoint/WeightFiles.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <set>

using namespace fixture;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

const std::string indexName = "model.safetensors.index.json";

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// A directory with the fixture's parameters in two shards.
class Shards : public ::testing::Test {
protected:
  Shards() {
    writeFile(directory / "a.safetensors", safetensorsOf({weight("w")}));
    writeFile(directory / "b.safetensors", safetensorsOf({bias}));
    map = {{"w", "a.safetensors"}, {"transformer.bias", "b.safetensors"}};
  }

  tsr_status loadFrom(const std::string &path) {
    return tsr_session_load_weights(training.session, path.c_str());
  }
  tsr_status loadWith(const std::string &index) {
    writeFile(directory / indexName, index);
    return loadFrom(directory.path);
  }
  tsr_status load() { return loadWith(json{{"weight_map", map}}.dump()); }
  /// Expects an error, and that nothing is written into the session.
  void expectRefused(tsr_status wanted, const std::string &message) {
    std::vector<double> before = training.state();
    EXPECT_EQ(load(), wanted);
    EXPECT_CONTAINS(tsr_last_error(), message);
    EXPECT_EQ(training.state(), before);
  }
  void expectRefused(const std::string &index, const std::string &message) {
    EXPECT_EQ(loadWith(index), TSR_CORRUPT);
    EXPECT_CONTAINS(tsr_last_error(), message);
  }
  void expectLoaded() {
    EXPECT_EQ(training.read("parameter", "transformer.w", V), expected());
    EXPECT_EQ(training.read("parameter", "transformer.bias", 1)[0], 2);
  }

  TemporaryDirectory directory;
  Training training{1, 4};
  json map;
};

TEST_F(Shards, AreReadFromTheirDirectoryAndFromTheirIndex) {
  ASSERT_EQ(load(), TSR_OK) << tsr_last_error();
  expectLoaded();
  ASSERT_EQ(tsr_session_init(training.session), TSR_OK);
  ASSERT_EQ(loadFrom(directory / indexName), TSR_OK) << tsr_last_error();
  expectLoaded();
}

TEST_F(Shards, MayLieInAFolderOfTheIndexOrBehindLinks) {
  fs::create_directory(directory / "blobs");
  fs::rename(directory / "a.safetensors", directory / "blobs/0");
  fs::create_symlink("blobs/0", directory / "a.safetensors");
  map["transformer.bias"] = "blobs/b.safetensors";
  fs::rename(directory / "b.safetensors", directory / "blobs/b.safetensors");
  ASSERT_EQ(load(), TSR_OK) << tsr_last_error();
  expectLoaded();
}

TEST_F(Shards, OneFileComesBeforeAnIndex) {
  writeFile(directory / indexName, "{}");
  writeFile(directory / "model.safetensors",
            safetensorsOf({weight("w"), bias}));
  ASSERT_EQ(loadFrom(directory.path), TSR_OK) << tsr_last_error();
  expectLoaded();
}

TEST_F(Shards, MissingOneIsNamed) {
  map["lm_head.weight"] = "c.safetensors";
  expectRefused(TSR_NOT_FOUND,
                "names the shard 'c.safetensors' (of 'lm_head.weight')");
}

TEST_F(Shards, MissingTensorIsNamed) {
  map["h.0.x"] = "b.safetensors";
  expectRefused(TSR_CORRUPT,
                "says that 'h.0.x' is in 'b.safetensors', but it is not there");
}

TEST_F(Shards, TensorOfAnotherShardIsNamed) {
  map["w"] = "b.safetensors";
  map["transformer.bias"] = "a.safetensors";
  expectRefused(TSR_CORRUPT, "says that 'transformer.bias' is in "
                             "'a.safetensors', but it is in '");
}

TEST_F(Shards, TensorOfTwoShardsIsNamed) {
  writeFile(directory / "b.safetensors", safetensorsOf({bias, weight("w")}));
  expectRefused(TSR_CORRUPT, "have a tensor 'w'");
}

TEST_F(Shards, FilesElsewhereAreRefused) {
  fs::create_directory(directory / "sub");
  for (std::string name :
       {std::string("../b.safetensors"), std::string("sub/../b.safetensors"),
        std::string(".."), std::string("sub/.."), std::string(),
        directory / "b.safetensors", std::string("b.safetensors\0x", 15)}) {
    map["transformer.bias"] = name;
    expectRefused(TSR_CORRUPT,
                  "which is no file in the directory of the index");
  }
}

TEST_F(Shards, MalformedIndicesAreRefused) {
  expectRefused("", "is not JSON");
  expectRefused("{\"weight_map\": ", "is not JSON");
  expectRefused("[]", "must be an object");
  expectRefused("{}", "'weight_map' is missing");
  expectRefused(R"({"weight_map": {}})", "'weight_map' must be an object");
  expectRefused(R"({"weight_map": [1]})", "'weight_map' must be an object");
  expectRefused(R"({"weight_map": {"w": 1}})", "must be a string");
  expectRefused(R"({"weight_map": {"w": "a.safetensors",
                                   "w": "b.safetensors"}})",
                "the key 'w' comes twice");
  expectRefused(R"({"weight_map": {"w\u0000": "a.safetensors"}})",
                "a name with a zero byte");
  expectRefused(std::string(65 << 20, ' '), "an index of shards has at most");
  std::string good = json{{"weight_map", map}}.dump();
  for (size_t length = 0; length < good.size(); ++length)
    ASSERT_EQ(loadWith(good.substr(0, length)), TSR_CORRUPT) << length;
}

TEST_F(Shards, DamagedShardIsNamed) {
  writeFile(directory / "b.safetensors", "short");
  expectRefused(TSR_CORRUPT, "b.safetensors' has 5 bytes");
}

TEST_F(Shards, MismatchNamesTheShard) {
  Entry flat = weight("w");
  flat.shape = {V};
  writeFile(directory / "a.safetensors", safetensorsOf({flat}));
  expectRefused(TSR_MISMATCH, "a.safetensors': 'w' has shape [10]");
}

TEST_F(Shards, OtherFormatsAndEmptyDirectoriesSayWhatToDo) {
  auto expect = [&](const char *name, tsr_status status, const char *message) {
    TemporaryDirectory other;
    if (*name)
      writeFile(other / name, "x");
    EXPECT_EQ(loadFrom(other.path), status) << name;
    EXPECT_CONTAINS(tsr_last_error(), "holds neither 'model.safetensors' nor");
    EXPECT_CONTAINS(tsr_last_error(), message);
    EXPECT_EQ(tsr_weights_find(other.path.c_str()), status) << name;
    EXPECT_CONTAINS(tsr_last_error(), message);
  };
  expect("", TSR_NOT_FOUND, "model.safetensors.index.json'");
  expect("README.md", TSR_NOT_FOUND, "model.safetensors.index.json'");
  expect("pytorch_model.bin", TSR_UNSUPPORTED,
         ", but 'pytorch_model.bin', which is weights of PyTorch in a pickle, "
         "which is a program and is not run; load it with transformers and "
         "save it with model.save_pretrained(DIRECTORY, "
         "safe_serialization=True)");
  for (const char *pickle : {"pytorch_model.bin.index.json",
                             "pytorch_model-00001-of-00002.bin", "model.pt"})
    expect(pickle, TSR_UNSUPPORTED, "safe_serialization");
  expect("tf_model.h5", TSR_UNSUPPORTED, "TensorFlow");
  expect("flax_model.msgpack", TSR_UNSUPPORTED, "Flax");
  expect("model-q4.gguf", TSR_UNSUPPORTED, "GGUF");
  expect("consolidated.00.pth", TSR_UNSUPPORTED, "the model's authors");
  expect("model-00001-of-00002.safetensors", TSR_UNSUPPORTED,
         "a shard without its index");
  expect("adapter_model.safetensors", TSR_UNSUPPORTED, "an adapter");
  expect("model.fp16.safetensors", TSR_UNSUPPORTED, "another name; name that");
}

TEST_F(Shards, MissingOnesAreCounted) {
  map["x"] = "c.safetensors";
  map["y"] = "d.safetensors";
  expectRefused(TSR_NOT_FOUND, "2 of 4 shards are missing: put all beside the "
                               "index");
}

TEST_F(Shards, APointerOfGitLfsIsNamed) {
  const std::string pointer = "version https://git-lfs.github.com/spec/v1\n"
                              "oid sha256:0\nsize 134\n";
  writeFile(directory / "b.safetensors", pointer);
  expectRefused(TSR_CORRUPT, "b.safetensors': it is a pointer of Git LFS");
  expectRefused(pointer, "index.json': it is a pointer of Git LFS");
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

tsr_session_options shardsOf(int64_t bytes) {
  tsr_session_options options = {};
  options.max_shard_bytes = bytes;
  return options;
}

std::set<std::string> namesIn(const std::string &directory) {
  std::set<std::string> names;
  for (const auto &entry : fs::directory_iterator(directory))
    names.insert(entry.path().filename());
  return names;
}

tsr_status save(Training &training, const std::string &directory) {
  return tsr_session_save(training.session, directory.c_str());
}

const std::string first = "model-00001-of-00002.safetensors";
const std::string second = "model-00002-of-00002.safetensors";

TEST(SavedShards, AreThoseOfTransformers) {
  TemporaryDirectory directory;
  Training training(2, 2, shardsOf(4 * V));
  ASSERT_EQ(save(training, directory.path), TSR_OK) << tsr_last_error();
  std::string step = directory / "step-00000000";
  EXPECT_EQ(namesIn(step),
            (std::set<std::string>{first, second, indexName, "manifest.json",
                                   "optimizer.safetensors"}));
  json index = json::parse(readFile(step + "/" + indexName));
  EXPECT_EQ(index,
            (json{{"metadata",
                   {{"total_parameters", V + 1}, {"total_size", 4 * V + 4}}},
                  {"weight_map",
                   {{"transformer.w", first}, {"transformer.bias", second}}}}));
  json header = headerOf(step + "/" + first);
  EXPECT_EQ(header["transformer.w"]["shape"], (json{V / 2, 2}));
  EXPECT_EQ(header["__metadata__"]["format"], "pt");
  EXPECT_FALSE(header.contains("transformer.bias"));
}

TEST(SavedShards, ResumeAndStartAsOneFileDoes) {
  TemporaryDirectory directory;
  Training saved(2, 2, shardsOf(4 * V)), loaded(1, 4), started(1, 1);
  for (int64_t i = 0; i < 2; ++i)
    ASSERT_EQ(saved.step(i), TSR_OK) << tsr_last_error();
  ASSERT_EQ(save(saved, directory.path), TSR_OK) << tsr_last_error();
  ASSERT_EQ(tsr_session_load(loaded.session, directory.path.c_str()), TSR_OK)
      << tsr_last_error();
  EXPECT_EQ(loaded.state(), saved.state());
  std::string step = directory / "step-00000002";
  ASSERT_EQ(tsr_session_load_weights(started.session, step.c_str()), TSR_OK)
      << tsr_last_error();
  EXPECT_EQ(started.read("parameter", "transformer.w", V),
            saved.read("parameter", "transformer.w", V));
  EXPECT_EQ(started.read("parameter", "transformer.bias", 1),
            saved.read("parameter", "transformer.bias", 1));
}

/// Files hold at most so many bytes of data, or one tensor.
TEST(SavedShards, SizesCount) {
  for (auto [bytes, files] : {std::pair<int64_t, size_t>(1, 2),
                              {4 * V + 3, 2},
                              {4 * V + 4, 1},
                              {0, 1},
                              {INT64_MAX, 1}}) {
    TemporaryDirectory directory;
    Training training(1, 1, shardsOf(bytes));
    ASSERT_EQ(save(training, directory.path), TSR_OK) << tsr_last_error();
    std::set<std::string> names = namesIn(directory / "step-00000000");
    EXPECT_EQ(names.count(files == 1 ? "model.safetensors" : first), 1u);
    EXPECT_EQ(names.size(), files == 1 ? 3u : 5u) << bytes;
  }
  tsr_session_options negative = shardsOf(-1);
  EXPECT_THROW(Training(1, 1, negative), std::runtime_error);
}

/// The slices of one tensor may lie in several shards.
TEST(SavedShards, SlicesAreCutToo) {
  TemporaryDirectory directory;
  Change stacked = renamed("transformer.w", "transformer.h.*.w");
  Training training(1, 1, shardsOf(2 * 8), stacked), other(1, 1, {}, stacked);
  training.write("parameter", "transformer.h.*.w", expected());
  ASSERT_EQ(save(training, directory.path), TSR_OK) << tsr_last_error();
  json index = json::parse(readFile(directory / "step-00000000/" + indexName));
  EXPECT_EQ(index["weight_map"]["transformer.h.1.w"],
            "model-00001-of-00003.safetensors");
  EXPECT_EQ(index["weight_map"]["transformer.h.2.w"],
            "model-00002-of-00003.safetensors");
  ASSERT_EQ(tsr_session_load(other.session, directory.path.c_str()), TSR_OK)
      << tsr_last_error();
  EXPECT_EQ(other.read("parameter", "transformer.h.*.w", V), expected());
}

TEST(SavedShards, DamagedOnesAreRefused) {
  for (const std::string &name : {first, second, indexName}) {
    TemporaryDirectory directory;
    Training training(1, 1, shardsOf(4 * V));
    ASSERT_EQ(save(training, directory.path), TSR_OK) << tsr_last_error();
    std::string path = directory / "step-00000000/" + name;
    std::string content = readFile(path);
    content[content.size() / 2] ^= 1;
    writeFile(path, content);
    EXPECT_EQ(tsr_session_load(training.session, directory.path.c_str()),
              TSR_CORRUPT);
    EXPECT_CONTAINS(tsr_last_error(), name + "' has hash");
    // So they are without the optimizer's state, which generation leaves.
    std::string step = directory / "step-00000000";
    EXPECT_EQ(tsr_session_load_weights(training.session, step.c_str()),
              TSR_CORRUPT);
    EXPECT_CONTAINS(tsr_last_error(), name + "' has hash");
    fs::remove(path);
    EXPECT_EQ(tsr_session_load(training.session, directory.path.c_str()),
              TSR_NOT_FOUND);
    EXPECT_CONTAINS(tsr_last_error(), name);
  }
}

TEST(SavedShards, OneFileAndSeveralReplaceEachOther) {
  TemporaryDirectory directory;
  {
    Training training(1, 1, shardsOf(4));
    ASSERT_EQ(save(training, directory.path), TSR_OK) << tsr_last_error();
  }
  Training training(1, 1);
  ASSERT_EQ(save(training, directory.path), TSR_OK) << tsr_last_error();
  EXPECT_EQ(namesIn(directory / "step-00000000"),
            (std::set<std::string>{"model.safetensors", "manifest.json",
                                   "optimizer.safetensors"}));
}

//===----------------------------------------------------------------------===//
// config.json
//===----------------------------------------------------------------------===//

Change withConfig(const json &files) {
  return [=](json &metadata) { metadata["config_files"] = files; };
}

TEST(SavedConfig, IsWhatWasImported) {
  TemporaryDirectory directory;
  const std::string config = "{\"model_type\": \"gpt2\",\n \"eps\": 1e-05}",
                    generation = "{ \"max_length\": 5 }\n";
  Training training(1, 1, {},
                    withConfig({{"config.json", config},
                                {"generation_config.json", generation},
                                {"tokenizer.json", "{}"}}));
  ASSERT_EQ(save(training, directory.path), TSR_OK) << tsr_last_error();
  std::string step = directory / "step-00000000";
  EXPECT_EQ(readFile(step + "/config.json"), config);
  EXPECT_EQ(readFile(step + "/generation_config.json"), generation);
  EXPECT_FALSE(fs::exists(step + "/tokenizer.json"));
  EXPECT_STREQ(tsr_session_notes(training.session), "");
  // Whoever changes it still resumes.
  writeFile(step + "/config.json", "{}");
  EXPECT_EQ(tsr_session_load(training.session, directory.path.c_str()), TSR_OK)
      << tsr_last_error();
}

/// Half of the numbers' digits would be lost in a model that is loaded in the
/// type of the weights that were once imported.
TEST(SavedConfig, SaysTheTypeOfTheWeightsBesideIt) {
  for (const char *key : {"dtype", "torch_dtype"}) {
    TemporaryDirectory directory;
    json config = {{"model_type", "gpt2"}, {"eps", 1e-05}, {key, "bfloat16"}};
    Training training(1, 1, {}, withConfig({{"config.json", config.dump()}}));
    ASSERT_EQ(save(training, directory.path), TSR_OK) << tsr_last_error();
    std::string text = readFile(directory / "step-00000000/config.json");
    config[key] = "float32";
    EXPECT_EQ(json::parse(text), config);
    EXPECT_CONTAINS(text, "1e-05");
  }
}

TEST(SavedConfig, WithoutOneThatIsSaid) {
  TemporaryDirectory directory;
  Training training(1, 1);
  ASSERT_EQ(save(training, directory.path), TSR_OK) << tsr_last_error();
  EXPECT_FALSE(fs::exists(directory / "step-00000000/config.json"));
  EXPECT_CONTAINS(tsr_session_notes(training.session),
                  "no config.json is written beside the weights");
}

TEST(SavedConfig, OfAnArtifactMustBeAnObject) {
  for (const char *text : {"", "[]", "{", "\"x\""})
    EXPECT_THROW(Training(1, 1, {}, withConfig({{"config.json", text}})),
                 std::runtime_error)
        << text;
  EXPECT_THROW(Training(1, 1, {}, withConfig({{"config.json", 1}})),
               std::runtime_error);
}

} // namespace
