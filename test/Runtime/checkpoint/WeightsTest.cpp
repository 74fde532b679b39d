//===- WeightsTest.cpp - loading `transformers` weights -------------------===//
#include "test/Runtime/fixture/Fixture.h"
#include "test/Runtime/fixture/FixtureLayout.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace fixture;
using nlohmann::json;

namespace {

template <class T> std::string bytesOf(const std::vector<T> &values) {
  return {reinterpret_cast<const char *>(values.data()),
          values.size() * sizeof(T)};
}

struct Entry {
  std::string name, dtype;
  std::vector<int64_t> shape;
  std::string data;
};

std::string safetensorsOf(const std::vector<Entry> &entries) {
  json header;
  std::string data;
  for (const Entry &entry : entries) {
    header[entry.name] = {
        {"dtype", entry.dtype},
        {"shape", entry.shape},
        {"data_offsets", {data.size(), data.size() + entry.data.size()}}};
    data += entry.data;
  }
  std::string text = header.dump();
  uint64_t length = text.size();
  return std::string(reinterpret_cast<char *>(&length), 8) + text + data;
}

std::vector<float> ramp() {
  std::vector<float> values(V);
  for (int i = 0; i < V; ++i)
    values[i] = static_cast<float>(i) - 2.5f;
  return values;
}

tsr_status load(Training &training, const std::vector<Entry> &entries) {
  std::string path = training.directory / "model.safetensors";
  writeFile(path, safetensorsOf(entries));
  return tsr_session_load_weights(training.session, path.c_str());
}

std::vector<double> expected() {
  std::vector<float> values = ramp();
  return {values.begin(), values.end()};
}

const Entry bias = {
    "transformer.bias", "F32", {1}, bytesOf(std::vector<float>{2})};
Entry weight(const std::string &name) {
  return {name, "F32", {V / 2, 2}, bytesOf(ramp())};
}

TEST(Weights, WithAndWithoutPrefixAndExtras) {
  for (const char *name : {"w", "transformer.w"}) {
    Training training(1, 4);
    Entry mask = {"h.0.attn.bias", "BOOL", {1, 3}, "abc"};
    Entry head = {
        "lm_head.weight", "F32", {1}, bytesOf(std::vector<float>{NAN})};
    ASSERT_EQ(load(training, {mask, weight(name), bias, head}), TSR_OK)
        << tsr_last_error();
    EXPECT_EQ(training.read("parameter", "transformer.w", V), expected());
    EXPECT_EQ(training.read("parameter", "transformer.bias", 1)[0], 2);
  }
}

TEST(Weights, FromADirectoryWithoutInit) {
  TemporaryDirectory directory;
  writeFile(directory / "model.safetensors",
            safetensorsOf({weight("w"), bias}));
  std::string path = writeArtifact(directory / "model.tsr", 1, 1);
  tsr_artifact *artifact = nullptr;
  tsr_session *session = nullptr;
  tsr_session_options options = {};
  options.size = sizeof options;
  options.poison = 1;
  ASSERT_EQ(tsr_artifact_load(path.c_str(), &artifact), TSR_OK);
  ASSERT_EQ(tsr_session_create(artifact, &options, &session), TSR_OK);
  ASSERT_EQ(tsr_session_load_weights(session, directory.path.c_str()), TSR_OK)
      << tsr_last_error();
  double moment = 1;
  ASSERT_EQ(
      tsr_session_read(session, "moment1", "transformer.bias", &moment, 1),
      TSR_OK);
  EXPECT_EQ(moment, 0);
  EXPECT_EQ(tsr_session_next_step(session), 0);
  EXPECT_EQ(tsr_session_save(session, (directory / "runs").c_str()), TSR_OK)
      << tsr_last_error(); // all is defined
  tsr_session_destroy(session);
  tsr_artifact_destroy(artifact);
}

TEST(Weights, InSeveralFilesAreRefused) {
  Training training(1, 1);
  TemporaryDirectory directory;
  writeFile(directory / "model.safetensors.index.json", "{}");
  EXPECT_EQ(tsr_session_load_weights(training.session, directory.path.c_str()),
            TSR_UNSUPPORTED);
  EXPECT_CONTAINS(tsr_last_error(), "holds weights in several files");
  writeFile(directory / "model.safetensors",
            safetensorsOf({weight("w"), bias}));
  EXPECT_EQ(tsr_session_load_weights(training.session, directory.path.c_str()),
            TSR_OK)
      << tsr_last_error();
}

TEST(Weights, KeepWhereTheTrainingIs) {
  Training training(1, 1);
  for (int64_t i = 0; i < 2; ++i)
    ASSERT_EQ(training.step(i), TSR_OK) << tsr_last_error();
  std::vector<double> moments = training.read("moment1", "transformer.w", V);
  ASSERT_NE(moments, std::vector<double>(V, 0));
  ASSERT_EQ(load(training, {weight("w"), bias}), TSR_OK) << tsr_last_error();
  EXPECT_EQ(training.read("parameter", "transformer.w", V), expected());
  EXPECT_EQ(training.read("moment1", "transformer.w", V), moments);
  EXPECT_EQ(tsr_session_next_step(training.session), 2);
}

/// A tensor whose first dimension is cut into tensors of the file.
TEST(Weights, StackedTensorsAreSlicesInTheFile) {
  Training training(1, 1, {}, [](json &m) {
    for (json &tensor : m["tensors"])
      if (tensor["name"] == "transformer.w")
        tensor["name"] = "transformer.h.*.w";
  });
  auto slice = [](int64_t k, std::vector<int64_t> shape) {
    std::vector<float> all = ramp();
    return Entry{"h." + std::to_string(k) + ".w", "F32", std::move(shape),
                 bytesOf(std::vector<float>{all[2 * k], all[2 * k + 1]})};
  };
  std::vector<Entry> entries = {bias};
  for (int64_t k = 0; k < V / 2; ++k)
    entries.push_back(slice(k, {2}));
  ASSERT_EQ(load(training, entries), TSR_OK) << tsr_last_error();
  EXPECT_EQ(training.read("parameter", "transformer.h.*.w", V), expected());
  TemporaryDirectory directory;
  ASSERT_EQ(tsr_session_save(training.session, directory.path.c_str()), TSR_OK)
      << tsr_last_error();
  ASSERT_EQ(tsr_session_init(training.session), TSR_OK);
  ASSERT_EQ(tsr_session_load(training.session, directory.path.c_str()), TSR_OK)
      << tsr_last_error();
  EXPECT_EQ(training.read("parameter", "transformer.h.*.w", V), expected());
  std::string file = directory / "step-00000000/model.safetensors";
  ASSERT_EQ(tsr_session_load_weights(training.session, file.c_str()), TSR_OK)
      << tsr_last_error();
  entries.back() = slice(V / 2 - 1, {1, 2});
  EXPECT_EQ(load(training, entries), TSR_MISMATCH);
  EXPECT_CONTAINS(tsr_last_error(), "has shape [1, 2], the artifact has [2]");
  entries.pop_back();
  EXPECT_EQ(load(training, entries), TSR_MISMATCH);
  EXPECT_CONTAINS(tsr_last_error(), "has no tensor 'transformer.h.4.w'");
}

TEST(Weights, HalfTypesAreWidened) {
  std::vector<uint16_t> bf16, f16;
  for (float value : ramp()) {
    uint32_t bits;
    std::memcpy(&bits, &value, 4);
    bf16.push_back(static_cast<uint16_t>(bits >> 16)); // exact
    int exponent;
    float mantissa = std::frexp(std::fabs(value), &exponent);
    f16.push_back(static_cast<uint16_t>(
        (value < 0 ? 0x8000 : 0) | ((exponent + 14) << 10) |
        static_cast<int>(mantissa * 2048 - 1024)));
  }
  Training training(1, 4);
  ASSERT_EQ(load(training, {{"w", "BF16", {V / 2, 2}, bytesOf(bf16)}, bias}),
            TSR_OK)
      << tsr_last_error();
  EXPECT_EQ(training.read("parameter", "transformer.w", V), expected());
  ASSERT_EQ(tsr_session_init(training.session), TSR_OK);
  ASSERT_EQ(load(training, {{"w", "F16", {V / 2, 2}, bytesOf(f16)}, bias}),
            TSR_OK);
  EXPECT_EQ(training.read("parameter", "transformer.w", V), expected());
}

TEST(Weights, MismatchesAreNamedAndChangeNothing) {
  Training training(1, 4);
  std::vector<double> before = training.state();
  EXPECT_EQ(load(training, {weight("w")}), TSR_MISMATCH);
  EXPECT_CONTAINS(tsr_last_error(), "no tensor 'transformer.bias'");
  Entry flat = weight("w");
  flat.shape = {V};
  EXPECT_EQ(load(training, {flat, bias}), TSR_MISMATCH);
  EXPECT_CONTAINS(tsr_last_error(), "[10], the artifact has [5, 2]");
  Entry integers = weight("w");
  integers.dtype = "I32";
  EXPECT_EQ(load(training, {integers, bias}), TSR_MISMATCH);
  EXPECT_CONTAINS(tsr_last_error(), "is I32");
  Entry nan = bias;
  nan.data = bytesOf(std::vector<float>{NAN});
  EXPECT_EQ(load(training, {weight("w"), nan}), TSR_CORRUPT);
  EXPECT_EQ(training.state(), before);
}

TEST(Weights, DamagedFilesAreRefused) {
  Training training(1, 1);
  std::string good = safetensorsOf({weight("w"), bias});
  std::string path = training.directory / "weights";
  auto status = [&](const std::string &content) {
    writeFile(path, content);
    return tsr_session_load_weights(training.session, path.c_str());
  };
  ASSERT_EQ(status(good), TSR_OK);
  for (size_t length = 0; length < good.size(); ++length)
    ASSERT_NE(status(good.substr(0, length)), TSR_OK) << length;
  for (size_t position = 0; position < 160; ++position) {
    std::string changed = good;
    changed[position] ^= 1;
    status(changed); // any answer but a crash
  }
  EXPECT_EQ(status(std::string(8, '\xFF') + good), TSR_CORRUPT);
}

/// Gives the fixture's w a bf16 parameter and an f32 master.
void withMaster(json &m) {
  json master = m["tensors"][0];
  master["role"] = "master";
  master["offset"] = m["arena"]["bytes"];
  m["tensors"][0]["dtype"] = "bf16";
  m["tensors"].push_back(master);
  m["arena"]["bytes"] = m["arena"]["bytes"].get<int>() + 64;
}

TEST(Weights, ParameterIsTheRoundingOfItsMaster) {
  Training training(1, 1, {}, withMaster);
  // f32 makes this the tie 257, which goes to the even 256; rounding it at once
  // would give 258.
  training.write("parameter", "transformer.w",
                 std::vector<double>(V, 257 + 1e-9));
  EXPECT_EQ(training.read("master", "transformer.w", V)[0], 257);
  EXPECT_EQ(training.read("parameter", "transformer.w", V)[0], 256);
}

TEST(Weights, MasterKeepsWhatBf16Rounds) {
  Training training(1, 1, {}, withMaster);
  std::vector<float> values(V, 1.001f);
  Entry precise = {"w", "F32", {V / 2, 2}, bytesOf(values)};
  ASSERT_EQ(load(training, {precise, bias}), TSR_OK) << tsr_last_error();
  EXPECT_EQ(training.read("parameter", "transformer.w", V)[0], 1.0);
  EXPECT_EQ(training.read("master", "transformer.w", V)[0], 1.001f);
  // A checkpoint holds both.
  TemporaryDirectory directory;
  ASSERT_EQ(tsr_session_save(training.session, directory.path.c_str()), TSR_OK);
  ASSERT_EQ(tsr_session_init(training.session), TSR_OK);
  ASSERT_EQ(tsr_session_load(training.session, directory.path.c_str()), TSR_OK)
      << tsr_last_error();
  EXPECT_EQ(training.read("parameter", "transformer.w", V)[0], 1.0);
  EXPECT_EQ(training.read("master", "transformer.w", V)[0], 1.001f);
}

} // namespace
