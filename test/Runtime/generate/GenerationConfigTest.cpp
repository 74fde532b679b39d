//===- GenerationConfigTest.cpp - how a model's texts end and are drawn ---===//
// The precedence is that of `transformers`: values were compared with those of
// its `generation_config` for the same folders.
//===----------------------------------------------------------------------===//

#include "runtime/generate/GenerationConfig.h"
#include "runtime/support/Status.h"
#include "test/Runtime/fixture/Fixture.h"

#include <gtest/gtest.h>

using namespace tessera;

namespace {

using Ids = std::vector<int32_t>;
using Files = std::map<std::string, std::string>;

/// Holds the files of a model.
struct Folder : fixture::TemporaryDirectory {
  explicit Folder(const Files &files) {
    for (const auto &[file, text] : files)
      fixture::writeFile(*this / file, text);
  }
};

Metadata artifactOf(const Files &files) {
  Metadata metadata;
  metadata.model.vocabulary = 100;
  metadata.configFiles = files;
  return metadata;
}

GenerationConfig read(const Files &files) {
  return readGenerationConfig(artifactOf({}), Folder(files).path);
}

constexpr const char *kConfig = "config.json",
                     *kGeneration = "generation_config.json";

TEST(GenerationConfig, EndsAreANumberOrAList) {
  EXPECT_EQ(read({}).ends, Ids());
  EXPECT_EQ(read({}).file, "");
  EXPECT_EQ(read({{kConfig, R"({"eos_token_id": 7})"}}).ends, Ids({7}));
  EXPECT_EQ(read({{kConfig, R"({"eos_token_id": [1, 7]})"}}).ends, Ids({1, 7}));
  EXPECT_EQ(read({{kConfig, R"({"eos_token_id": null})"}}).ends, Ids());
  EXPECT_EQ(read({{kConfig, R"({"eos_token_id": [99, 100, -1]})"}}).ends,
            Ids({99}));
  EXPECT_EQ(read({{kGeneration, R"({"eos_token_id": 0})"}}).ends, Ids({0}));
}

TEST(GenerationConfig, OneFileCountsAndNeverBoth) {
  const std::string model = R"({"eos_token_id": 7, "top_k": 3})";
  GenerationConfig found =
      read({{kConfig, model}, {kGeneration, R"({"eos_token_id": [8, 9]})"}});
  EXPECT_EQ(found.ends, Ids({8, 9}));
  EXPECT_EQ(found.file, kGeneration);
  EXPECT_FALSE(found.topK);
  EXPECT_EQ(found.notFollowed, "");
  for (const char *other : {"{}", R"({"eos_token_id": null})"}) {
    found = read({{kConfig, model}, {kGeneration, other}});
    EXPECT_EQ(found.ends, Ids());
    EXPECT_EQ(found.notFollowed, "eos_token_id of config.json");
  }
  found = read({{kConfig, model}});
  EXPECT_EQ(found.file, kConfig);
  EXPECT_EQ(found.topK, 3);
}

TEST(GenerationConfig, AnArtifactHoldsTheFilesOfItsModel) {
  Metadata artifact = artifactOf({{kConfig, R"({"eos_token_id": 7})"},
                                  {kGeneration, R"({"eos_token_id": 8})"}});
  EXPECT_EQ(readGenerationConfig(artifact, "").ends, Ids({8}));
  EXPECT_EQ(readGenerationConfig(artifact, Folder(Files{}).path).ends,
            Ids({8}));
  Folder other(Files{{kConfig, R"({"eos_token_id": 9})"}});
  EXPECT_EQ(readGenerationConfig(artifact, other.path).ends, Ids({9}));
}

TEST(GenerationConfig, SamplingIsRead) {
  GenerationConfig found = read({{kGeneration, R"({
    "do_sample": true, "temperature": 0.6, "top_k": 20, "top_p": 0.95,
    "min_p": 0.1, "repetition_penalty": 1.05, "max_new_tokens": 64,
    "num_beams": 1, "typical_p": 1.0, "no_repeat_ngram_size": 0,
    "bad_words_ids": null, "transformers_version": "4.51.0"})"}});
  EXPECT_EQ(found.samples, true);
  EXPECT_EQ(found.temperature, 0.6);
  EXPECT_EQ(found.topK, 20);
  EXPECT_EQ(found.topP, 0.95);
  EXPECT_EQ(found.minP, 0.1);
  EXPECT_EQ(found.repetitionPenalty, 1.05);
  EXPECT_EQ(found.maxNewTokens, 64);
  EXPECT_EQ(found.notFollowed, "");
  found = read({{kGeneration, R"({"do_sample": null, "temperature": null})"}});
  EXPECT_FALSE(found.samples);
  EXPECT_FALSE(found.temperature);
  EXPECT_FALSE(found.topP);
}

TEST(GenerationConfig, WhatIsNotFollowedIsNamed) {
  EXPECT_EQ(read({{kGeneration, R"({"do_sample": true, "max_length": 9})"}})
                .notFollowed,
            "max_length 9, top_k 50, which transformers takes where the file "
            "gives none");
  EXPECT_EQ(read({{kGeneration, R"({"num_beams": 4, "length_penalty": 0.6,
                                    "suppress_tokens": [1, 2]})"}})
                .notFollowed,
            "num_beams 4, suppress_tokens [1,2]");
  Metadata artifact = artifactOf({});
  artifact.model.decoder = Decoder{8, 0, 0};
  for (auto [start, wanted] :
       {std::pair("0", ""), std::pair("2", "decoder_start_token_id 2")})
    EXPECT_EQ(
        readGenerationConfig(
            artifact, Folder({{kGeneration,
                               std::string(R"({"decoder_start_token_id": )") +
                                   start + "}"}})
                          .path)
            .notFollowed,
        wanted);
}

TEST(GenerationConfig, WhatNoTextCanBeMadeWithIsRefused) {
  for (const char *bad :
       {R"({"eos_token_id": "2"})", R"({"eos_token_id": [1, 2.5]})",
        R"({"eos_token_id": {}})", R"({"do_sample": "yes"})",
        R"({"temperature": -1})", R"({"temperature": "1"})", R"({"top_p": 0})",
        R"({"top_p": 1.5})", R"({"min_p": 2})", R"({"top_k": 2.5})",
        R"({"top_k": -2})", R"({"repetition_penalty": 0})",
        R"({"max_new_tokens": 0})", "[]", "{"}) {
    try {
      read({{kGeneration, bad}});
      FAIL() << bad;
    } catch (const Error &error) {
      EXPECT_EQ(currentStatus().code, TSR_CORRUPT) << bad;
      EXPECT_NE(std::string(error.what()).find(kGeneration), std::string::npos)
          << error.what();
    }
  }
}

} // namespace
