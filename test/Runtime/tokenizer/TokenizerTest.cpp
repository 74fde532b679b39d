//===- TokenizerTest.cpp - ids and texts are those of `tokenizers` --------===//
// reference/ holds tokenizers of each published family, and what the package
// makes of texts; make_tokenizers.py made both.
#include "tessera/tokenizer.hpp"
#include "test/Runtime/tokenizer/Files.h"
#include "test/Runtime/tokenizer/Texts.h"

#include <gtest/gtest.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace tessera;
using namespace texts;

namespace {

class Family : public testing::TestWithParam<std::string> {
protected:
  std::string folder = std::string(TOKENIZERS) + "/" + GetParam();
  Tokenizer tokenizer{folder};
  nlohmann::json answers =
      nlohmann::json::parse(readFile(folder + "/answers.json"));
};

TEST_P(Family, EncodesEachText) {
  EXPECT_EQ(tokenizer.vocabularySize(), answers["vocabulary"]);
  for (const nlohmann::json &item : answers["cases"]) {
    std::string text = decodeBase64(item[0].get<std::string>());
    EXPECT_EQ(tokenizer.encode(text, TSR_WITH_SPECIAL), item[1].get<Ids>())
        << text;
    EXPECT_EQ(tokenizer.encode(text, TSR_WITHOUT_SPECIAL), item[2].get<Ids>())
        << text;
  }
}

TEST_P(Family, DecodesEachText) {
  for (const nlohmann::json &item : answers["cases"]) {
    Ids ids = item[1].get<Ids>();
    EXPECT_EQ(tokenizer.decode(ids, TSR_WITH_SPECIAL),
              item[3].get<std::string>());
    EXPECT_EQ(tokenizer.decode(ids, TSR_WITHOUT_SPECIAL),
              item[4].get<std::string>());
  }
}

TEST_P(Family, StreamsWholeCharacters) {
  for (const nlohmann::json &item : answers["cases"]) {
    TokenStream stream(tokenizer, TSR_WITHOUT_SPECIAL);
    std::string text, part;
    for (int32_t id : item[1].get<Ids>()) {
      text += part = stream.push(id);
      EXPECT_TRUE(isUtf8(part)) << part;
    }
    text += stream.finish();
    EXPECT_EQ(text, item[4].get<std::string>());
  }
}

/// Returns the stream's text until a stop; parts are given as soon as they may
/// be.
std::string streamUntilStop(TokenStream &stream, const Ids &ids,
                            const std::vector<std::string> &stops) {
  std::string text;
  for (int32_t id : ids) {
    std::string part = stream.push(id);
    EXPECT_TRUE(isUtf8(part)) << part;
    text += part;
    for (const std::string &stop : stops)
      EXPECT_EQ(text.find(stop), std::string::npos) << text;
  }
  return text + stream.finish();
}

/// Every part of three characters as the stop: the text before the first one.
TEST_P(Family, EndsBeforeAStop) {
  for (const nlohmann::json &item : answers["cases"]) {
    Ids ids = item[1].get<Ids>();
    const std::string text = item[4].get<std::string>();
    TokenStream stream(tokenizer, TSR_WITHOUT_SPECIAL);
    for (size_t at = 0; at < std::min<size_t>(text.size(), 40); ++at) {
      size_t end = at;
      for (int k = 0; k < 3 && end < text.size(); ++k)
        do
          ++end;
        while (end < text.size() && (text[end] & 0xC0) == 0x80);
      const std::string stop = text.substr(at, end - at);
      if (!isUtf8(stop) || stop.find('\0') != std::string::npos)
        continue;
      stream.setStops({"not in any text, \u00e9", stop});
      EXPECT_EQ(streamUntilStop(stream, ids, {stop}),
                text.substr(0, text.find(stop)));
      EXPECT_EQ(stream.stop(), 1);
    }
  }
}

/// The texts are UTF-8, so that only their middles have characters in parts.
TEST_P(Family, CountsTheBytesOfItsTokens) {
  for (const nlohmann::json &item : answers["cases"]) {
    Ids ids = item[1].get<Ids>();
    std::string text = item[4].get<std::string>();
    if (text.find("\uFFFD") != std::string::npos)
      continue;
    auto all = static_cast<int64_t>(text.size());
    EXPECT_EQ(tokenizer.countBytes(ids), all) << text;
    for (size_t first = 0; first <= ids.size(); ++first)
      EXPECT_EQ(tokenizer.countBytes({ids.begin(), ids.begin() + first}) +
                    tokenizer.countBytes(ids, first),
                all)
          << text << " at " << first;
  }
}

TEST_P(Family, EncodesMixedText) {
  const std::string text = readFile(std::string(TOKENIZERS) + "/mixed.bin");
  constexpr size_t part = 1024;
  const nlohmann::json &hashes = answers["mixed"];
  ASSERT_EQ(hashes.size(), text.size() / part);
  for (size_t i = 0; i < hashes.size(); ++i) {
    Ids ids =
        tokenizer.encode(text.substr(i * part, part), TSR_WITHOUT_SPECIAL);
    char hash[17];
    std::snprintf(hash, sizeof hash, "%016llx",
                  static_cast<unsigned long long>(
                      XXH3_64bits(ids.data(), 4 * ids.size())));
    EXPECT_EQ(hash, hashes[i].get<std::string>())
        << "kilobyte " << i << ", " << ids.size() << " ids";
  }
}

INSTANTIATE_TEST_SUITE_P(Tokenizer, Family,
                         testing::Values("gpt2", "llama3", "qwen2", "o200k",
                                         "roberta", "bert", "bert_cased",
                                         "llama2", "mistral", "t5", "xlm",
                                         "unigram_bytes", "spm_bpe",
                                         "spm_unigram"),
                         [](const auto &info) { return info.param; });

//===----------------------------------------------------------------------===//
// Refusals
//===----------------------------------------------------------------------===//

TEST(TokenizerFile, NamesWhatIsNotSupported) {
  constexpr tsr_status code = TSR_UNSUPPORTED;
  using nlohmann::json;
  expectRefused(changed("gpt2", "/pre_tokenizer", {{"type", "UnicodeScripts"}}),
                code,
                "'pre_tokenizer' is of type 'UnicodeScripts', which is no "
                "pre-tokenizer that is supported");
  expectRefused(changed("gpt2", "/normalizer", {{"type", "Uppercase"}}), code,
                "'normalizer' is of type 'Uppercase'");
  expectRefused(changed("gpt2", "/model/type", "WordLevel"), code,
                "'model' is of type 'WordLevel', supported are BPE, Unigram "
                "and WordPiece");
  expectRefused(changed("gpt2", "/model/dropout", 0.1), code,
                "'model' has a dropout");
  expectRefused(changed("gpt2", "/model/new_key", 1), code,
                "'model' has the key 'new_key', which is not supported here");
  expectRefused(changed("gpt2", "/decoder", {{"type", "CTC"}}), code,
                "'decoder' is of type 'CTC'");
  expectRefused(changed("gpt2", "/post_processor", {{"type", "Other"}}), code,
                "'post_processor' is of type 'Other'");
  expectRefused(changed("gpt2", "/version", "2.0"), code,
                "'version' is '2.0', supported is 1.0");
  expectRefused(
      changed("llama3", "/pre_tokenizer/pretokenizers/0/behavior", "Joined"),
      code, "'pre_tokenizer.pretokenizers[0].behavior' is 'Joined'");
  expectRefused(changed("t5", "/pre_tokenizer/prepend_scheme", "last"), code,
                "has the prepend_scheme 'last'");
}

TEST(TokenizerFile, NamesWhatAnExpressionHasThatIsNotSupported) {
  auto expectNamed = [](const char *pattern, tsr_status code,
                        const std::string &part) {
    expectRefused(changed("llama3",
                          "/pre_tokenizer/pretokenizers/0/pattern/Regex",
                          pattern),
                  code, part);
  };
  expectNamed("a\\b", TSR_UNSUPPORTED,
              "has '\\b' at byte 1 of 'a\\b', which is not supported in "
              "regular expressions");
  expectNamed("[a[b]]", TSR_UNSUPPORTED, "has '['");
  expectNamed("[a&&b]", TSR_UNSUPPORTED, "has '&&'");
  expectNamed("(?m:.)", TSR_UNSUPPORTED, "has '(?m:'");
  expectNamed("a{2}+", TSR_UNSUPPORTED, "has '{2}+'");
  expectNamed("\\h", TSR_UNSUPPORTED, "has '\\h'");
  expectNamed("(a", TSR_CORRUPT, "is no regular expression");
  expectNamed("[]", TSR_CORRUPT, "empty or open class");
}

TEST(TokenizerFile, NamesWhatIsBroken) {
  constexpr tsr_status code = TSR_CORRUPT;
  EXPECT_NE(refusal("{", code).find("is not JSON"), std::string::npos);
  EXPECT_NE(refusal("[]", code).find("must be an object"), std::string::npos);
  expectRefused(
      changed("gpt2", "/model/vocab/x", -1), code,
      "gives the token 'x' the id -1, ids are integers in [0, 16777216)");
  expectRefused(
      changed("gpt2", "/model/merges/0",
              nlohmann::json::array({"a", "\u00e9\u00e9"})),
      code,
      "joins 'a' and '\u00e9\u00e9', but the vocabulary has no '\u00e9\u00e9'");
  expectRefused(changed("gpt2", "/model/merges/0", "a b c"), code,
                "has \"a b c\" at 0, merges are of two tokens");
  expectRefused(changed("gpt2", "/added_tokens/0/id", 5), code,
                "gives the added token '<|endoftext|>' the id 5, but the next "
                "id that is free is");
  expectRefused(changed("t5", "/model/unk_id", 100000), code,
                "'model.unk_id' is 100000, must be in [0, ");
  expectRefused(
      changed("t5", "/normalizer/normalizers/0/precompiled_charsmap", "AAAA"),
      code, "it is torn");
  expectRefused(
      changed("t5", "/normalizer/normalizers/0/precompiled_charsmap", "A*"),
      code, "is not base64 at byte 1");
  expectRefused(changed("llama2", "/post_processor/special_tokens/<s>/ids",
                        nlohmann::json::array({100000})),
                code,
                "'post_processor' adds the token 100000, the vocabulary has ");
}

TEST(TokenizerFile, IsNoModelOfSentencePiece) {
  TemporaryFile file("no model", ".model");
  try {
    Tokenizer tokenizer(file.path());
    FAIL();
  } catch (const Exception &error) {
    EXPECT_EQ(error.status(), TSR_CORRUPT);
    EXPECT_NE(std::string(error.what()).find("is no model of sentencepiece"),
              std::string::npos)
        << error.what();
  }
}

TEST(TokenizerFile, IsMissing) {
  try {
    Tokenizer tokenizer(TOKENIZERS);
    FAIL();
  } catch (const Exception &error) {
    EXPECT_EQ(error.status(), TSR_NOT_FOUND);
    EXPECT_NE(std::string(error.what()).find("holds no tokenizer"),
              std::string::npos)
        << error.what();
  }
}

TEST(TokenizerApi, KnowsTokens) {
  Tokenizer tokenizer(family("llama3"));
  EXPECT_EQ(tokenizer.endToken(), "<|end_of_text|>");
  EXPECT_EQ(tokenizer.find("<|begin_of_text|>"),
            tokenizer.vocabularySize() - 2);
  EXPECT_THROW(tokenizer.find("<none>"), Exception);
}

/// In transformers special_tokens_map.json counts more, but not beside a newer
/// tokenizer_config.json, which lists the added tokens.
TEST(TokenizerApi, EndsAreOfEitherFile) {
  namespace fs = std::filesystem;
  const fs::path folder =
      fs::path(::testing::TempDir()) / ("ends-" + std::to_string(::getpid()));
  fs::create_directories(folder);
  fs::copy_file(fs::path(family("gpt2")) / "tokenizer.json",
                folder / "tokenizer.json");
  auto endOf = [&](const char *config, const char *map) {
    std::ofstream(folder / "tokenizer_config.json") << config;
    std::ofstream(folder / "special_tokens_map.json") << map;
    return Tokenizer(folder.string()).endToken();
  };
  const char *map = R"({"eos_token": {"content": "<|endoftext|>"}})";
  EXPECT_EQ(endOf("{}", "{}"), "");
  EXPECT_EQ(endOf("{}", map), "<|endoftext|>");
  EXPECT_EQ(endOf("{}", R"({"eos_token": "b"})"), "b");
  EXPECT_EQ(endOf(R"({"eos_token": "a"})", "{}"), "a");
  EXPECT_EQ(endOf(R"({"eos_token": "a"})", map), "<|endoftext|>");
  EXPECT_EQ(
      endOf(R"({"eos_token": "a", "added_tokens_decoder": {"1": {}}})", map),
      "a");
  for (const char *noObject : {"null", "[]", "\"a\"", "7"}) {
    EXPECT_THROW(endOf(noObject, map), Exception) << noObject;
    EXPECT_THROW(endOf("{}", noObject), Exception) << noObject;
  }
  fs::remove_all(folder);
}

TEST(TokenizerApi, RefusesIdsOutsideOfTheVocabulary) {
  Tokenizer tokenizer(family("gpt2"));
  TokenStream stream(tokenizer, TSR_WITHOUT_SPECIAL);
  auto past = static_cast<int32_t>(tokenizer.vocabularySize());
  for (int32_t id : {-1, past}) {
    EXPECT_THROW(stream.push(id), Exception);
    try {
      tokenizer.decode({0, id}, TSR_WITHOUT_SPECIAL);
      FAIL();
    } catch (const Exception &error) {
      EXPECT_EQ(error.status(), TSR_INVALID_ARGUMENT);
      EXPECT_EQ(error.what(),
                "id " + std::to_string(id) +
                    " at 1 is outside of the tokenizer's vocabulary of " +
                    std::to_string(past));
    }
  }
}

TEST(TokenizerApi, NeedsTheUnknownTokenWhereACharacterIsUnknown) {
  nlohmann::json file = changed("bert", "/model/unk_token", "[NONE]");
  file["post_processor"] = nullptr;
  TemporaryFile path(file.dump());
  Tokenizer tokenizer(path.path());
  EXPECT_FALSE(tokenizer.encode("the", TSR_WITH_SPECIAL).empty());
  EXPECT_THROW(tokenizer.encode("\u1234", TSR_WITH_SPECIAL), Exception);
}

TEST(TokenizerApi, CountsBytesOfCharactersInParts) {
  for (const char *name : {"gpt2", "llama2", "unigram_bytes", "spm_bpe"}) {
    Tokenizer tokenizer(family(name));
    Ids ids = tokenizer.encode("\U0001F9ED\U0001F9ED", TSR_WITHOUT_SPECIAL);
    int64_t last = tokenizer.countBytes(ids, ids.size() - 1);
    EXPECT_EQ(last, 1) << name;
    EXPECT_EQ(tokenizer.countBytes({ids.begin(), ids.end() - 1}), 7) << name;
    EXPECT_EQ(tokenizer.countBytes({ids.back(), ids.back()}), 2) << name;
  }
}

TEST(TokenizerApi, CountsSpecialTokensWhereTheyAreWritten) {
  Tokenizer tokenizer(family("gpt2"));
  Ids ids = tokenizer.encode("a<|endoftext|>b", TSR_WITHOUT_SPECIAL);
  EXPECT_EQ(tokenizer.countBytes(ids), 2);
  EXPECT_EQ(tokenizer.countBytes(ids, 0, TSR_WITH_SPECIAL), 15);
  EXPECT_EQ(tokenizer.countBytes({}), 0);
  EXPECT_THROW(tokenizer.countBytes(ids, ids.size() + 1), Exception);
  EXPECT_THROW(tokenizer.countBytes({-1}), Exception);
}

TEST(TokenizerApi, TakesBytesAsTheyAre) {
  Tokenizer tokenizer = Tokenizer::ofBytes();
  EXPECT_EQ(tokenizer.vocabularySize(), 256);
  EXPECT_EQ(tokenizer.endToken(), "");
  EXPECT_EQ(tokenizer.encode(std::string("a\xc3\xbc\xff\0", 5)),
            (Ids{97, 0xc3, 0xbc, 0xff, 0}));
  EXPECT_EQ(tokenizer.encode(""), Ids{});
  EXPECT_EQ(tokenizer.decode({97, 0xc3, 0xbc}), "a\xc3\xbc");
  EXPECT_EQ(tokenizer.decode({0xff}), "\xef\xbf\xbd");
  EXPECT_EQ(tokenizer.countBytes({97, 0xc3, 0xff}, 1), 2);
  EXPECT_EQ(tokenizer.find("a"), 97);
  EXPECT_THROW(tokenizer.decode({256}), Exception);

  TokenStream stream(tokenizer, TSR_WITHOUT_SPECIAL);
  EXPECT_EQ(stream.push(0xc3), "");
  EXPECT_EQ(stream.push(0xbc), "\xc3\xbc");
  EXPECT_EQ(stream.push(0xc3), "");
  EXPECT_EQ(stream.finish(), "\xef\xbf\xbd");
}

TEST(TokenizerApi, RefusesNull) {
  tsr_tokenizer *tokenizer = nullptr;
  EXPECT_EQ(tsr_tokenizer_load(nullptr, &tokenizer), TSR_INVALID_ARGUMENT);
  EXPECT_STREQ(tsr_last_error(), "path is null");
  EXPECT_EQ(
      tsr_tokenizer_encode(nullptr, "a", 1, TSR_WITH_SPECIAL, nullptr, nullptr),
      TSR_INVALID_ARGUMENT);
  tsr_tokenizer_destroy(nullptr);
  tsr_token_stream_destroy(nullptr);
}

TEST(TokenizerApi, StopsAreHeldBackUntilTheyAreNone) {
  Tokenizer tokenizer(std::string(TOKENIZERS) + "/gpt2");
  auto pushAll = [&](TokenStream &stream, const std::string &text) {
    std::string given;
    for (int32_t id : tokenizer.encode(text))
      given += stream.push(id);
    return given;
  };
  TokenStream stream(tokenizer);
  stream.setStops({"\nUser:", "\nUs", "b"});
  EXPECT_EQ(pushAll(stream, "caf\u00e9\nU"), "caf\u00e9");
  EXPECT_EQ(stream.stop(), -1);
  EXPECT_EQ(stream.finish(), "\nU"); // it came to be none
  EXPECT_EQ(pushAll(stream, "a\n\nUser: more b"), "a\n");
  EXPECT_EQ(stream.stop(), 1); // complete before "\nUser:" is
  EXPECT_EQ(stream.finish(), "");
  EXPECT_EQ(stream.stop(), 1);
  stream.setStops({"aab", "xaab"});
  EXPECT_EQ(pushAll(stream, "aaxaab"), "aa"); // the longest of those that end
  EXPECT_EQ(stream.stop(), 1);
  stream.setStops({});
  EXPECT_EQ(pushAll(stream, "aab") + stream.finish(), "aab");
  EXPECT_THROW(stream.setStops({"a", ""}), Exception);
  EXPECT_THROW(stream.setStops({"\xc3"}), Exception);
}

TEST(TokenizerApi, StreamOutlivesItsTokenizer) {
  auto tokenizer = std::make_unique<Tokenizer>(family("gpt2"));
  std::vector<int32_t> ids =
      tokenizer->encode("caf\u00e9", TSR_WITHOUT_SPECIAL);
  TokenStream stream(*tokenizer, TSR_WITHOUT_SPECIAL);
  tokenizer.reset();
  std::string text;
  for (int32_t id : ids)
    text += stream.push(id);
  EXPECT_EQ(text + stream.finish(), "caf\u00e9");
}

} // namespace
