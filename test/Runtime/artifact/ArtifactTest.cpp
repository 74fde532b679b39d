//===- ArtifactTest.cpp - loading, damage ---------------------------------===//
#include "tessera/abi.h"
#include "test/Runtime/fixture/Fixture.h"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <filesystem>
#include <gtest/gtest.h>

using namespace fixture;
using nlohmann::json;

namespace {

class ArtifactFile : public ::testing::Test {
protected:
  tsr_status load(const std::string &content) {
    std::string path = directory / "model.tsr";
    writeFile(path, content);
    tsr_artifact *artifact = nullptr;
    tsr_status status = tsr_artifact_load(path.c_str(), &artifact);
    EXPECT_EQ(artifact != nullptr, status == TSR_OK);
    tsr_artifact_destroy(artifact);
    return status;
  }
  /// Loads changed metadata with a hash that is right: the fault is in the
  /// content.
  tsr_status loadChanged(const Change &change) {
    json metadata = metadataOf(2, 2);
    change(metadata);
    return load(artifactOf(metadata.dump(), codeOf(2, 2)));
  }

  TemporaryDirectory directory;
  std::string good = artifactOf(metadataOf(2, 2).dump(), codeOf(2, 2));
};

TEST_F(ArtifactFile, GoodOneLoads) {
  std::string path = writeArtifact(directory / "good.tsr", 2, 2);
  tsr_artifact *artifact = nullptr;
  ASSERT_EQ(tsr_artifact_load(path.c_str(), &artifact), TSR_OK)
      << tsr_last_error();
  EXPECT_EQ(tsr_artifact_ranks(artifact), 4);
  EXPECT_EQ(tsr_artifact_batch(artifact), 8);
  EXPECT_EQ(tsr_artifact_sequence(artifact), 4);
  EXPECT_EQ(tsr_artifact_vocabulary(artifact), 10);
  EXPECT_EQ(json::parse(tsr_artifact_metadata(artifact)), metadataOf(2, 2));
  tsr_artifact_destroy(artifact);
}

TEST_F(ArtifactFile, AbsentOneIsNotFound) {
  tsr_artifact *artifact = nullptr;
  EXPECT_EQ(tsr_artifact_load((directory / "absent").c_str(), &artifact),
            TSR_NOT_FOUND);
  EXPECT_EQ(tsr_artifact_load(directory.path.c_str(), &artifact), TSR_IO);
  EXPECT_EQ(tsr_artifact_load(nullptr, &artifact), TSR_INVALID_ARGUMENT);
  tsr_artifact_destroy(nullptr);
}

TEST_F(ArtifactFile, EveryTruncationIsCorrupt) {
  for (size_t length = 0; length < 300; ++length)
    ASSERT_EQ(load(good.substr(0, length)), TSR_CORRUPT) << length;
  for (size_t length = 300; length < good.size(); length += 997)
    ASSERT_EQ(load(good.substr(0, length)), TSR_CORRUPT) << length;
  EXPECT_EQ(load(good + "x"), TSR_CORRUPT);
}

TEST_F(ArtifactFile, EveryFlippedBitIsCorrupt) {
  for (size_t position = 0; position < good.size();
       position += position < 150 ? 1 : 613) {
    if (position == offsetof(tsr_abi_header, key) && !TESSERA_HAS_LIBCRYPTO)
      position = sizeof(tsr_abi_header); // nothing can check a signature
    std::string changed = good;
    changed[position] ^= 1 << (position % 8);
    ASSERT_EQ(load(changed), TSR_CORRUPT) << position;
  }
}

/// One in a few contents has a signature of zeros by such a key.
TEST_F(ArtifactFile, KeysOfSmallOrderSignNothing) {
  const uint8_t ends[][2] = {
      {0, 0}, {1, 0}, {0xec, 0x7f}, {0xed, 0x7f}, {0xee, 0x7f}};
  for (auto [first, last] : ends)
    for (int sign : {0, 0x80})
      for (int content = 0; content < 8; ++content) {
        if (!first && !last && !sign)
          continue; // no key at all
        std::string changed = artifactOf(
            metadataOf(2, 2).dump() + std::string(content, ' '), codeOf(2, 2));
        auto *key = &changed[offsetof(tsr_abi_header, key)];
        std::fill_n(key, TSR_KEY_BYTES, last ? '\xff' : '\0');
        key[0] = static_cast<char>(first);
        key[TSR_KEY_BYTES - 1] = static_cast<char>(last | sign);
        ASSERT_EQ(load(changed), TSR_CORRUPT)
            << int(first) << " " << int(last | sign) << " " << content;
      }
}

TEST_F(ArtifactFile, OtherVersionNamesBoth) {
  std::string changed = good;
  changed[8] = 77;
  EXPECT_EQ(load(changed), TSR_CORRUPT);
  EXPECT_CONTAINS(tsr_last_error(), "ABI version 77, this runtime has " +
                                        std::to_string(TSR_ABI_VERSION));
}

TEST_F(ArtifactFile, LengthsThatOverflowAreCorrupt) {
  std::string changed = good;
  uint64_t huge = UINT64_MAX - 10;
  std::memcpy(&changed[16], &huge, 8);
  EXPECT_EQ(load(changed), TSR_CORRUPT);
}

TEST_F(ArtifactFile, MetadataThatIsNotJson) {
  EXPECT_EQ(load(artifactOf("{", codeOf(2, 2))), TSR_CORRUPT);
  EXPECT_EQ(load(artifactOf("[]", codeOf(2, 2))), TSR_CORRUPT);
  EXPECT_EQ(load(artifactOf("", codeOf(2, 2))), TSR_CORRUPT);
  EXPECT_EQ(load(artifactOf(std::string(100000, '['), codeOf(2, 2))),
            TSR_CORRUPT);
  EXPECT_EQ(load(artifactOf("\"\xFF\"", codeOf(2, 2))), TSR_CORRUPT);
}

/// Adds a tensor that no axis splits.
void addTensor(json &metadata, int64_t offset, const char *role,
               const std::string &name, const char *dtype, const json &shape) {
  metadata["tensors"].push_back({{"role", role},
                                 {"name", name},
                                 {"dtype", dtype},
                                 {"shape", shape},
                                 {"local_shape", shape},
                                 {"offset", offset},
                                 {"partial", json::array()},
                                 {"sharding", json::array()}});
}

/// Adds two slots of four places, with a cache of this shape behind the rest,
/// and scores of so many rows; 0: none, as in older artifacts.
void addGeneration(json &metadata, const json &cache, int64_t scored = 0) {
  metadata["model"].update(
      {{"lanes", 1}, {"slots", 2}, {"places", 4}, {"prefill_chunk", 1}});
  const int64_t end = metadata["arena"]["bytes"];
  metadata["arena"]["bytes"] = end + 4096;
  auto add = [&](const char *role, const std::string &name, const char *dtype,
                 const json &shape) {
    addTensor(metadata, end, role, name, dtype, shape);
  };
  for (auto [program, rows] : {std::pair("decode", 2), {"mixed", 3}}) {
    const std::string name = program;
    for (const char *data : {"_ids", "_slots", "_positions"})
      add("input", name + data, "i32", {1, rows});
    add("input", name + "_last", "i32", {1, 2});
    add("output", name + "_logits", "f32", {1, 2, 10});
  }
  if (scored > 0) {
    for (const char *data : {"_ids", "_slots", "_positions", "_labels"})
      add("input", std::string("score") + data, "i32", {1, 3});
    for (const char *name : {"score_log_probabilities", "score_label_ranks"})
      add("output", name, "f32", {1, scored});
  }
  add("key_cache", "0", "f32", cache);
}

TEST_F(ArtifactFile, ScoresAreOfTheRowsOfAStep) {
  auto loadWith = [&](int64_t rows) {
    return loadChanged([&](json &all) {
      addGeneration(all, {1, 2, 4, 3, 5}, rows);
    });
  };
  EXPECT_EQ(loadWith(3), TSR_OK) << tsr_last_error();
  EXPECT_EQ(loadWith(2), TSR_CORRUPT);
  EXPECT_CONTAINS(tsr_last_error(),
                  "lacks output 'score_log_probabilities' of [1, 3]");
}

/// In the place of logits, with what says how they are found.
TEST_F(ArtifactFile, CandidatesAreOfTheSlotsOfAStep) {
  auto loadWith = [&](int64_t count, const char *penalties) {
    return loadChanged([&](json &all) {
      addGeneration(all, {1, 2, 4, 3, 5});
      all["model"]["candidates"] = 3;
      const int64_t end = all["arena"]["bytes"].get<int64_t>() - 4096;
      auto add = [&](const char *role, const std::string &name,
                     const char *dtype, const json &shape) {
        addTensor(all, end, role, name, dtype, shape);
      };
      for (const std::string program : {"decode", "mixed"}) {
        add("input", program + "_tokens", "i32", {1, 2, 4});
        add("input", program + "_penalties", penalties, {1, 2});
        add("input", program + "_sharpness", "f32", {1, 2});
        add("input", program + "_draws", "i32", {1, 2, 3});
        add("output", program + "_candidates", "f32", {1, 2, count, 2});
        add("output", program + "_drawn", "f32", {1, 2, 1, 3});
        add("output", program + "_totals", "f32", {1, 2});
      }
    });
  };
  EXPECT_EQ(loadWith(3, "f32"), TSR_OK) << tsr_last_error();
  EXPECT_EQ(loadWith(4, "f32"), TSR_CORRUPT);
  EXPECT_CONTAINS(tsr_last_error(),
                  "lacks output 'decode_candidates' of [1, 2, 3, 2]");
  EXPECT_EQ(loadWith(3, "i32"), TSR_CORRUPT);
  EXPECT_CONTAINS(tsr_last_error(), "lacks input 'decode_penalties' of [1, 2]");
}

TEST_F(ArtifactFile, CachesHaveTheSizesOfTheModel) {
  auto loadWith = [&](const json &cache) {
    return loadChanged([&](json &all) { addGeneration(all, cache); });
  };
  EXPECT_EQ(loadWith({1, 2, 4, 3, 5}), TSR_OK) << tsr_last_error();
  for (const json &cache :
       {json{2, 2, 4, 3, 5}, json{1, 1, 4, 3, 5}, json{1, 2, 3, 3, 5},
        json{1, 2, 4, 15}, json{1, 2}}) {
    EXPECT_EQ(loadWith(cache), TSR_CORRUPT) << cache;
    EXPECT_CONTAINS(tsr_last_error(),
                    "key_cache '0' must be [1, 2, 4 or as many more as ranks "
                    "that share these need, key heads, head size]");
  }
}

TEST_F(ArtifactFile, MetadataThatIsTooDeepOrTooLarge) {
  // Valid JSON: what would overflow the stack is not the parser.
  json metadata = metadataOf(2, 2);
  metadata["report"] = "here";
  std::string text = metadata.dump(), deep(1'000'000, '[');
  deep += std::string(deep.size(), ']');
  text.replace(text.find("\"here\""), 6, deep);
  EXPECT_EQ(load(artifactOf(text, codeOf(2, 2))), TSR_CORRUPT);
  EXPECT_CONTAINS(tsr_last_error(), "deep");
}

TEST_F(ArtifactFile, CodeRunsInASessionOnly) {
  std::string path = directory / "model.tsr", trace = directory / "trace";
  writeFile(path,
            artifactOf(metadataOf(1, 1).dump(), readFile(FIXTURE_CONSTRUCTOR)));
  setenv("TESSERA_TEST_TRACE", trace.c_str(), 1);
  tsr_artifact *artifact = nullptr;
  ASSERT_EQ(tsr_artifact_load(path.c_str(), &artifact), TSR_OK)
      << tsr_last_error();
  EXPECT_EQ(json::parse(tsr_artifact_metadata(artifact)), metadataOf(1, 1));
  EXPECT_FALSE(std::filesystem::exists(trace));
  tsr_session *session = nullptr;
  ASSERT_EQ(tsr_session_create(artifact, nullptr, &session), TSR_OK)
      << tsr_last_error();
  EXPECT_TRUE(std::filesystem::exists(trace)); // so the test would notice
  unsetenv("TESSERA_TEST_TRACE");
  tsr_session_destroy(session);
  tsr_artifact_destroy(artifact);
}

TEST_F(ArtifactFile, CodeThatIsNotAProgram) {
  std::string metadata = metadataOf(2, 2).dump(), code = codeOf(2, 2);
  EXPECT_EQ(load(artifactOf(metadata, "")), TSR_CORRUPT);
  EXPECT_EQ(load(artifactOf(metadata, "not an ELF file, but long enough for "
                                      "its header of 64 bytes at least")),
            TSR_CORRUPT);
  // Behind the headers, before the segments.
  EXPECT_EQ(load(artifactOf(metadata, code.substr(0, 1500))), TSR_CORRUPT);
  EXPECT_CONTAINS(tsr_last_error(), "a segment outside of the file");
  std::string renamed = code;
  for (size_t at = 0;
       (at = renamed.find("tsr_program_step", at)) != std::string::npos;)
    renamed[at] = 'x';
  EXPECT_EQ(load(artifactOf(metadata, renamed)), TSR_CORRUPT);
  EXPECT_CONTAINS(tsr_last_error(), "has no 'tsr_program_step'");
  std::string foreign = code;
  foreign[offsetof(Elf64_Ehdr, e_machine)] ^= 64;
  EXPECT_EQ(load(artifactOf(metadata, foreign)), TSR_CORRUPT);
}

/// A shared object has one symbol table. If all of many were read, each as long
/// as the file, the time would grow with the square of its size.
TEST_F(ArtifactFile, SecondSymbolTableIsNotRead) {
  std::string code = codeOf(2, 2);
  Elf64_Ehdr header;
  std::memcpy(&header, code.data(), sizeof header);
  auto *sections = reinterpret_cast<Elf64_Shdr *>(&code[header.e_shoff]);
  auto *end = sections + header.e_shnum;
  auto *first = std::find_if(sections, end, [](const Elf64_Shdr &section) {
    return section.sh_type == SHT_DYNSYM;
  });
  ASSERT_LT(first, end - 1);
  end[-1] = *first;
  first->sh_size = sizeof(Elf64_Sym);
  EXPECT_EQ(load(artifactOf(metadataOf(2, 2).dump(), code)), TSR_CORRUPT);
  EXPECT_CONTAINS(tsr_last_error(), "has no 'tsr_program_step'");
}

/// Removes each entry of the metadata, and replaces it by values of other
/// types.
void mutate(json &root, json &value, const std::function<void()> &check) {
  const json replacements[] = {
      nullptr,         -1, 1.5, "x", json::array({1, "y"}), json::object(),
      int64_t(1) << 60};
  for (const json &replacement : replacements) {
    json saved = value;
    value = replacement;
    check();
    value = saved;
  }
  if (!value.is_structured())
    return;
  for (auto it = value.begin(); it != value.end(); ++it)
    mutate(root, *it, check);
}

TEST_F(ArtifactFile, NoMetadataCrashesTheLoader) {
  json metadata = metadataOf(2, 2);
  std::string code = codeOf(2, 2);
  int refused = 0, all = 0;
  mutate(metadata, metadata, [&] {
    ++all;
    tsr_status status = load(artifactOf(metadata.dump(), code));
    EXPECT_TRUE(status == TSR_OK || status == TSR_CORRUPT);
    refused += status == TSR_CORRUPT;
  });
  EXPECT_GT(refused, all / 2);
}

TEST_F(ArtifactFile, WrongMetadataIsNamed) {
  struct {
    Change change;
    const char *message;
  } cases[] = {
      {[](json &m) { m.erase("mesh"); }, "'mesh' is missing"},
      {[](json &m) { m["format"] = 2; }, "'format' is 2"},
      {[](json &m) { m["tensors"][0]["offset"] = "a"; },
       "'tensors[0].offset' must be an integer, it is string"},
      {[](json &m) { m["tensors"][0]["offset"] = 1 << 20; },
       "'tensors[0].offset' is 1048576"},
      {[](json &m) { m["tensors"][0]["offset"] = 2; }, "not a multiple of 4"},
      {[](json &m) { m["tensors"][0]["local_shape"] = {4}; },
       "is [4], the sharding makes it [5]"},
      {[](json &m) {
         m["tensors"][0]["file_shape"] = {3, 3};
       },
       "is [3, 3], it must have the elements of [10]"},
      {[](json &m) { m["tensors"][0]["sharding"][0]["axis"] = "xp"; },
       "'xp', which is no axis"},
      {[](json &m) { m["tensors"][0]["partial"] = {"tp"}; },
       "names an axis that the tensor already uses"},
      {[](json &m) { m["tensors"][0]["dtype"] = "f8"; }, "'f8'"},
      {[](json &m) { m["tensors"][0]["role"] = "weight"; }, "no role"},
      {[](json &m) { m["tensors"][0]["dtype"] = "i8"; },
       "parameter 'transformer.w' is i8 and has no scale"},
      {[](json &m) { m["tensors"][0]["role"] = "scale"; },
       "'tensors[0].channels' is missing"},
      {[](json &m) {
         m["tensors"][11]["role"] = "scale";
         m["tensors"][11]["name"] = "transformer.w";
         m["tensors"][11]["channels"] = {0};
       },
       "with the channels of a parameter of i8"},
      {[](json &m) { m["tensors"][1]["offset"] = 0; }, "overlaps"},
      {[](json &m) { m["tensors"].push_back(m["tensors"][11]); },
       "repeats value 'fault'"},
      {[](json &m) { m["tensors"].erase(0); },
       "moment1 'transformer.w' has no parameter of its shape"},
      {[](json &m) { m["tensors"][12]["dtype"] = "f32"; },
       "input 'ids' must be i32 [2, 4, 4], it is f32 [2, 4, 4]"},
      {[](json &m) { m["model"]["micro_batches"] = 3; },
       "is 8, not a multiple of 3"},
      {[](json &m) { m["optimizer"]["beta1"] = 1.0; }, "'optimizer.beta1'"},
      {[](json &m) { m["optimizer"]["schedule"] = "step"; },
       "'optimizer.schedule' is 'step', must be one of cosine, linear"},
      {[](json &m) { m["optimizer"]["decay_steps"] = 19; },
       "'optimizer.decay_steps' is 19"},
      {[](json &m) { m["mesh"][1]["axis"] = "dp"; }, "repeats the axis 'dp'"},
      {[](json &m) { m["arena"]["bytes"] = -1; }, "'arena.bytes' is -1"}};
  for (const auto &c : cases) {
    EXPECT_EQ(loadChanged(c.change), TSR_CORRUPT) << c.message;
    EXPECT_CONTAINS(tsr_last_error(), c.message);
  }
}

TEST_F(ArtifactFile, TwoProgramsAreKeptApart) {
  // The loader must not take the second for the first, which has its path.
  Training serial(1, 1), wide(1, 4), square(2, 2);
  tsr_step_result one, two, three;
  ASSERT_EQ(serial.step(0, &one), TSR_OK) << tsr_last_error();
  ASSERT_EQ(wide.step(0, &two), TSR_OK) << tsr_last_error();
  ASSERT_EQ(square.step(0, &three), TSR_OK) << tsr_last_error();
  EXPECT_NEAR(one.loss, two.loss, 1e-6);
  EXPECT_NEAR(one.loss, three.loss, 1e-6);
}

TEST_F(ArtifactFile, CodeForAnotherProcessorIsRefused) {
  tsr_session *session = nullptr;
  tsr_artifact *artifact = nullptr;
  std::string path = writeArtifact(directory / "f.tsr", 1, 1, [](json &m) {
    m["target"]["device"] = "cuda";
  });
  ASSERT_EQ(tsr_artifact_load(path.c_str(), &artifact), TSR_OK);
  EXPECT_EQ(tsr_session_create(artifact, nullptr, &session), TSR_UNSUPPORTED);
  EXPECT_CONTAINS(tsr_last_error(), "compiled for device 'cuda'");
  tsr_artifact_destroy(artifact);
}

} // namespace
