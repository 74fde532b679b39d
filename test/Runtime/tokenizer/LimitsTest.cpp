//===- LimitsTest.cpp - files of strangers, and texts for them ------------===//
// Whatever a file says, a text becomes valid UTF-8 and tokens within limits of
// growth and work, or is refused.
#include "test/Runtime/tokenizer/Files.h"
#include "test/Runtime/tokenizer/Tables.h"

using namespace tessera;
using namespace texts;
using nlohmann::json;

namespace {

/// Returns a tokenizer of the letters a, b, c and x, and of nothing else.
json letters() {
  json file = {{"version", "1.0"},          {"truncation", nullptr},
               {"padding", nullptr},        {"added_tokens", json::array()},
               {"normalizer", nullptr},     {"pre_tokenizer", nullptr},
               {"post_processor", nullptr}, {"decoder", nullptr}};
  file["model"] = {
      {"type", "BPE"},
      {"unk_token", "?"},
      {"vocab", {{"?", 0}, {"a", 1}, {"b", 2}, {"c", 3}, {"x", 4}}},
      {"merges", json::array()}};
  return file;
}

json withPart(const char *part, const json &value) {
  json file = letters();
  file[part] = value;
  return file;
}

json replaced(const char *pattern, const std::string &content) {
  return {{"type", "Replace"},
          {"pattern", {{"String", pattern}}},
          {"content", content}};
}

json added(int id, const std::string &content) {
  return {{"id", id},        {"content", content}, {"single_word", false},
          {"lstrip", false}, {"rstrip", false},    {"normalized", false},
          {"special", true}};
}

std::string encodeError(const json &file, const std::string &text) {
  Tokenizer tokenizer = open(file.dump());
  return errorOf(TSR_UNSUPPORTED,
                 [&] { tokenizer.encode(text, TSR_WITH_SPECIAL); });
}

//===----------------------------------------------------------------------===//
// Tables of rules
//===----------------------------------------------------------------------===//

/// Returns a normalizer with a rule for 'a'.
json charsmap(uint32_t offset, const std::string &texts) {
  return {{"type", "Precompiled"},
          {"precompiled_charsmap",
           encodeBase64(tableOf(letterRule(offset), texts))}};
}

TEST(TokenizerLimits, RulesGiveCharacters) {
  const std::string eAcute = "\u00e9";
  Tokenizer whole =
      open(withPart("normalizer", charsmap(0, std::string("b\0", 2))).dump());
  EXPECT_EQ(whole.encode("axa", TSR_WITH_SPECIAL), (Ids{2, 4, 2}));
  auto expectTableRefused = [](const json &table, const char *part) {
    expectRefused(withPart("normalizer", table), TSR_CORRUPT, part);
  };
  expectTableRefused(charsmap(1, eAcute + '\0'),
                     "precompiled_charsmap' has a rule whose text begins at 1, "
                     "which is within a character");
  expectTableRefused(charsmap(7, "b"),
                     "has a rule whose text begins at 7, its texts have 2");
  expectTableRefused(charsmap(0, "\xc3"), "has texts that are no UTF-8 from "
                                          "byte 0 of 1 on");
  json sequence = {
      {"type", "Sequence"},
      {"normalizers",
       {charsmap(1, eAcute),
        {{"type", "Strip"}, {"strip_left", false}, {"strip_right", true}}}}};
  expectTableRefused(sequence, "which is within a character");
}

TEST(TokenizerLimits, RulesLengthenATextSixteenTimes) {
  auto encode = [](size_t bytes) {
    Tokenizer tokenizer = open(
        withPart("normalizer", charsmap(0, std::string(bytes, 'b'))).dump());
    return tokenizer.encode(std::string(1000, 'a'), TSR_WITH_SPECIAL).size();
  };
  EXPECT_EQ(encode(16), 16000u);
  expectIn("'normalizer' makes 16065 bytes or more of a text of 1000, at most "
           "16 times as many and 64 are made",
           errorOf(TSR_UNSUPPORTED, [&] { encode(17); }));
}

//===----------------------------------------------------------------------===//
// Growth
//===----------------------------------------------------------------------===//

TEST(TokenizerLimits, ReplacementsMayNotMultiply) {
  json twice = {{"type", "Sequence"}, {"normalizers", json::array()}};
  for (int i = 0; i < 60; ++i)
    twice["normalizers"].push_back(replaced("a", "aa"));
  expectIn("'normalizer.normalizers[4]' makes ",
           encodeError(withPart("normalizer", twice), std::string(100, 'a')));
  expectIn("'normalizer' makes ",
           encodeError(
               withPart("normalizer", replaced("a", std::string(1 << 20, 'b'))),
               std::string(1 << 20, 'a')));
  json empty = replaced("", std::string(40, 'b')); // between all characters
  expectIn("'normalizer' makes ",
           encodeError(withPart("normalizer", empty), std::string(100, 'a')));
}

TEST(TokenizerLimits, ShortTextsMayHaveAPrefix) {
  auto prefix = [](size_t bytes) {
    return withPart("normalizer", {{"type", "Prepend"},
                                   {"prepend", std::string(bytes, 'b')}});
  };
  EXPECT_EQ(open(prefix(64).dump()).encode("a", TSR_WITH_SPECIAL).size(), 65u);
  expectIn("'normalizer' makes 100001 bytes or more of a text of 1",
           encodeError(prefix(100000), "a"));
}

/// Each step adds a space to each part, and the next cuts it off.
TEST(TokenizerLimits, SplittingMayNotMultiply) {
  json level = {{"type", "ByteLevel"},
                {"add_prefix_space", true},
                {"trim_offsets", true},
                {"use_regex", false}};
  json split = {{"type", "Split"},
                {"pattern", {{"Regex", "[\\s\\S]"}}},
                {"behavior", "Isolated"},
                {"invert", false}};
  json steps = json::array();
  for (int i = 0; i < 40; ++i) {
    steps.push_back(split);
    steps.push_back(level);
  }
  expectIn("'pre_tokenizer.pretokenizers[",
           encodeError(withPart("pre_tokenizer", {{"type", "Sequence"},
                                                  {"pretokenizers", steps}}),
                       std::string(1000, 'a')));
}

TEST(TokenizerLimits, DecodingMayNotMultiply) {
  json file = withPart("decoder", replaced("a", std::string(1 << 20, 'b')));
  Tokenizer tokenizer = open(file.dump());
  expectIn("'decoder' makes ", errorOf(TSR_UNSUPPORTED, [&] {
             tokenizer.decode(Ids(5000, 1), TSR_WITH_SPECIAL);
           }));
  EXPECT_EQ(tokenizer.decode({2, 3}, TSR_WITH_SPECIAL), "bc");
}

TEST(TokenizerLimits, TemplatesAddFewTokens) {
  json special = {{"SpecialToken", {{"id", "s"}, {"type_id", 0}}}};
  json single = {{{"Sequence", {{"id", "A"}, {"type_id", 0}}}}};
  for (int i = 0; i < 100; ++i)
    single.push_back(special);
  json ids = json::array();
  for (int i = 0; i < 1000; ++i)
    ids.push_back(1);
  json part = {{"type", "TemplateProcessing"},
               {"single", single},
               {"pair", json::array()},
               {"special_tokens",
                {{"s", {{"id", "s"}, {"ids", ids}, {"tokens", {"a"}}}}}}};
  expectRefused(withPart("post_processor", part), TSR_UNSUPPORTED,
                "adds 2000 tokens or more around a text, at most 1024");
}

TEST(TokenizerLimits, SequencesAreShort) {
  json steps = json::array();
  for (int i = 0; i < 3000; ++i)
    steps.push_back({{"type", "Lowercase"}});
  expectRefused(
      withPart("normalizer", {{"type", "Sequence"}, {"normalizers", steps}}),
      TSR_UNSUPPORTED, "holds 3003 values or more, at most 2048");
}

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

/// Writes a prefix of `bytes` bytes, and so as many tokens, before each
/// character of a word but the first.
json prefixed(size_t bytes) {
  json file = withPart("pre_tokenizer", {{"type", "WhitespaceSplit"}});
  json &model = file["model"];
  model["continuing_subword_prefix"] = std::string(bytes, '#');
  model["byte_fallback"] = true;
  for (int byte = 0; byte < 256; ++byte) {
    char name[8];
    std::snprintf(name, sizeof name, "<0x%02X>", byte);
    model["vocab"][name] = 10 + byte;
  }
  return file;
}

TEST(TokenizerLimits, AWordHasAnyNumberOfTokens) {
  Tokenizer tokenizer = open(prefixed(1000).dump());
  const std::string word(128, 'x');
  Ids one = tokenizer.encode(word, TSR_WITH_SPECIAL);
  EXPECT_EQ(one.size(), 1 + 127u * 1001);
  Ids two = tokenizer.encode(word + ' ' + word, TSR_WITH_SPECIAL);
  one.insert(one.end(), one.begin(), one.end());
  EXPECT_EQ(two, one);
}

TEST(TokenizerLimits, TokensAreInProportionToATextsLength) {
  expectIn("tokens or more of a text, at most ",
           encodeError(prefixed(60000), std::string(1000, 'x')));
}

TEST(TokenizerLimits, TokensAreShort) {
  json file = letters();
  file["model"]["vocab"][std::string(100000, 'a')] = 5;
  expectRefused(
      file, TSR_UNSUPPORTED,
      "the token of id 5 has 100000 bytes, tokens have at most 65536");
}

TEST(TokenizerLimits, IdsAreSmall) {
  for (const json &id : json::array(
           {-1, 1 << 24, uint64_t(1) << 31, uint64_t(1) << 63, 1.5, "1"})) {
    json file = letters();
    file["model"]["vocab"]["a"] = id;
    expectRefused(file, TSR_CORRUPT, "gives the token 'a' the id ");
  }
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

json splitting(const char *expression) {
  return withPart("pre_tokenizer", {{"type", "Split"},
                                    {"pattern", {{"Regex", expression}}},
                                    {"behavior", "Isolated"},
                                    {"invert", false}});
}

TEST(TokenizerLimits, ExpressionsBacktrackWithinLimits) {
  const std::string text = std::string(200000, 'a') + "!";
  for (const char *expression :
       {"(a*)*b", "(?:a+)+$x", "a+[bc]", "(?:a|a)*b", "(?=a*b)a", "a*a*a*b"})
    expectIn("'pre_tokenizer.pattern' cannot be matched against a text of "
             "200001 bytes: ",
             encodeError(splitting(expression), text));
}

/// Each word takes fewer steps than one text may.
TEST(TokenizerLimits, PartsOfATextShareItsSteps) {
  std::string text;
  for (int i = 0; i < 2000; ++i)
    text += std::string(18, 'a') + "! ";
  json split = splitting("(?:a|a)*[bc]")["pre_tokenizer"];
  json steps = {{{"type", "WhitespaceSplit"}}, split};
  expectIn("cannot be matched against a text of 19 bytes: it takes more than ",
           encodeError(withPart("pre_tokenizer", {{"type", "Sequence"},
                                                  {"pretokenizers", steps}}),
                       text));
}

/// Matches that are longer than the window which is looked at first, begin late
/// in it, or look far ahead and behind.
TEST(TokenizerLimits, ExpressionsMatchLongTexts) {
  auto parts = [](const char *expression, const std::string &text) {
    json file = splitting(expression);
    file["model"]["ignore_merges"] = true;
    for (size_t bytes : {1, 999, 1000, 3000})
      file["model"]["vocab"][std::string(bytes, 'a')] = 100 + bytes;
    return open(file.dump()).encode(text, TSR_WITH_SPECIAL);
  };
  const std::string run(1000, 'a'), apart(700, 'x');
  EXPECT_EQ(parts("a+", run + "b" + run), (Ids{1100, 2, 1100}));
  EXPECT_EQ(parts("a+$", run + "b" + run).back(), 1100);
  EXPECT_EQ(parts("(?<=b)a+", "b" + run), (Ids{2, 1100}));
  EXPECT_EQ(parts("a+(?!a)", run + run + run + "b"), (Ids{3100, 2}));
  EXPECT_EQ(parts("a+(?=b)|a", run + "b" + "aa").size(), 4u);
  Ids late = parts("a{1000}", apart + run + apart);
  EXPECT_EQ(late.size(), 1401u);
  EXPECT_EQ(late[700], 1100);
}

/// The texts are those of `tokenizers`.
TEST(TokenizerLimits, ExpressionsMatchNothingBetweenCharacters) {
  auto marked = [](const char *expression, const std::string &text) {
    json step = replaced("", "b");
    step["pattern"] = {{"Regex", expression}};
    json file = withPart("normalizer", step);
    file["decoder"] = {{"type", "Fuse"}};
    Tokenizer tokenizer = open(file.dump());
    return tokenizer.decode(tokenizer.encode(text, TSR_WITH_SPECIAL),
                            TSR_WITH_SPECIAL);
  };
  EXPECT_EQ(marked("x*", "aaxa"), "bababab");
  EXPECT_EQ(marked("", "aca"), "babcbab");
  EXPECT_EQ(marked("a*", "xaac"), "bxbcb");
  EXPECT_EQ(marked("(?=a)", "xaac"), "xbabac");
}

TEST(TokenizerLimits, ExpressionsHaveNoVerbs) {
  for (const char *expression : {"(*LIMIT_MATCH=9)a", "a(*SKIP)b", "(*NO_JIT)"})
    expectRefused(splitting(expression), TSR_UNSUPPORTED, "has '(*' at byte ");
}

/// A token that almost matches at each place of a text.
TEST(TokenizerLimits, LongTokensAreLookedForWithinLimits) {
  const std::string text(100000, 'a'), most(60000, 'a');
  json unigram = letters();
  unigram["model"] = {
      {"type", "Unigram"},
      {"unk_id", 0},
      {"vocab", json::array({json::array({"a", -1.0}),
                             json::array({most + "b", -2.0})})}};
  expectIn("'model' needs more than ", encodeError(unigram, text));
  json piece = letters();
  piece["model"] = {{"type", "WordPiece"},
                    {"unk_token", "a"},
                    {"continuing_subword_prefix", ""},
                    {"max_input_chars_per_word", 100000000},
                    {"vocab", {{"a", 0}, {most + "b", 1}}}};
  expectIn("'model' needs more than ", encodeError(piece, text));
  json file = letters();
  file["added_tokens"] = {added(5, most + "b")};
  expectIn("'added_tokens' needs more than ", encodeError(file, text));
}

TEST(TokenizerLimits, SpacesBesideTokensAreLookedThroughOnce) {
  for (const char *side : {"lstrip", "rstrip"}) {
    json file = letters(), token = added(5, " ");
    token[side] = true;
    file["added_tokens"] = {token};
    Ids ids =
        open(file.dump()).encode(std::string(1000000, ' '), TSR_WITH_SPECIAL);
    EXPECT_EQ(ids.size(), 1000000u) << side;
  }
}

TEST(TokenizerLimits, MarksAreSortedInTimeThatGrowsWithTheirNumber) {
  // Classes 230 and 220 in turns; sorted, the marks of class 220 come first.
  constexpr size_t pairs = 200000;
  std::string text = "a";
  for (size_t i = 0; i < pairs; ++i)
    text += "\u0301\u0316";
  json file = withPart("normalizer", {{"type", "NFC"}});
  file["model"]["vocab"] = {
      {"?", 0}, {"\u00e1", 1}, {"\u0301", 2}, {"\u0316", 3}};
  Ids ids = open(file.dump()).encode(text, TSR_WITH_SPECIAL);
  Ids expected = {1};
  expected.insert(expected.end(), pairs, 3);
  expected.insert(expected.end(), pairs - 1, 2);
  EXPECT_TRUE(ids == expected);
}

TEST(TokenizerLimits, DecodingTakesTimeThatGrowsWithTheText) {
  json suffix = {{"type", "BPEDecoder"}, {"suffix", "a"}};
  json decoders = {{{"type", "Fuse"}}, suffix};
  json file =
      withPart("decoder", {{"type", "Sequence"}, {"decoders", decoders}});
  EXPECT_EQ(open(file.dump()).decode(Ids(1000000, 1), TSR_WITH_SPECIAL), "");
}

TEST(TokenizerLimits, TokensWithoutATextStreamQuickly) {
  json file = letters();
  file["added_tokens"] = {added(5, "<s>")};
  file["decoder"] = {{"type", "Fuse"}};
  Tokenizer tokenizer = open(file.dump());
  TokenStream stream(tokenizer, TSR_WITHOUT_SPECIAL);
  std::string text;
  for (int i = 0; i < 100000; ++i)
    text += stream.push(5);
  for (int i = 0; i < 20000; ++i)
    text += stream.push(1);
  EXPECT_EQ(text + stream.finish(), std::string(20000, 'a'));
}

} // namespace
