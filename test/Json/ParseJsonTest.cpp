// These tests check the values and the errors of parseJson. The right values of
// escapes and duplicate keys are those of Python's json.
#include "tessera/Json/ParseJson.h"
#include "tessera/Json/ReadText.h"
#include "llvm/Support/FormatVariadic.h"
#include <gtest/gtest.h>

using namespace tessera;
using llvm::json::Value;

static Value parsed(llvm::StringRef text) {
  llvm::Expected<Value> value = parseJson(text, json_kinds::config);
  if (value)
    return std::move(*value);
  ADD_FAILURE() << text.str() << ": " << llvm::toString(value.takeError());
  return nullptr;
}

static std::string refusal(llvm::StringRef text,
                           const JsonLimits &limits = json_kinds::config) {
  llvm::Expected<Value> value = parseJson(text, limits);
  return value ? "none" : llvm::toString(value.takeError());
}

static std::string textIn(llvm::StringRef json) {
  return parsed(json).getAsString().value_or("no string").str();
}

TEST(ParseJsonTest, pairs_of_surrogates_are_one_character) {
  EXPECT_EQ(textIn(R"("\ud842\udfb7")"), "\xf0\xa0\xae\xb7");   // U+20BB7
  EXPECT_EQ(textIn(R"("\uD869\uDED6")"), "\xf0\xaa\x9b\x96");   // U+2A6D6
  EXPECT_EQ(textIn(R"("\udb40\udd00")"), "\xf3\xa0\x84\x80");   // U+E0100
  EXPECT_EQ(textIn(R"("\udbff\udfff")"), "\xf4\x8f\xbf\xbf");   // U+10FFFF
  EXPECT_EQ(textIn(R"("\ud83d\ude00x")"), "\xf0\x9f\x98\x80x"); // U+1F600
  EXPECT_EQ(textIn(R"("\u00e9\n\u0000\/")"), std::string("\xc3\xa9\n\0/", 5));
  EXPECT_EQ(parsed(R"({"\udbc0\udc00": 1})")
                .getAsObject()
                ->getInteger("\xf4\x80\x80\x80"), // U+100000, as a key
            1);
}

TEST(ParseJsonTest, lone_surrogates_are_refused) {
  for (const char *text : {R"("\ud842")", R"("\ud842x")", R"("\udfb7")",
                           R"("\ud842\ud842")", R"("\ud842\u0041")"})
    EXPECT_NE(refusal(text).find("surrogate"), std::string::npos)
        << refusal(text);
}

TEST(ParseJsonTest, bytes_that_are_no_utf8_are_refused_in_place) {
  EXPECT_EQ(refusal("{\"a\":\n \"Stra\xdf"
                    "e\"}"),
            "line 2, column 8: invalid string: ill-formed UTF-8 byte");
  EXPECT_NE(refusal("\"\xc0\x80\""), "none");     // too long
  EXPECT_NE(refusal("\"\xed\xa0\x80\""), "none"); // a surrogate
  EXPECT_NE(refusal("\"\xf4\x90\x80\x80\""), "none");
}

TEST(ParseJsonTest, other_encodings_are_named) {
  EXPECT_EQ(refusal(llvm::StringRef("\xff\xfe{\0}\0", 6)),
            "line 1, column 1: the text is UTF-16; save it as UTF-8");
  EXPECT_EQ(refusal(llvm::StringRef("{\0}\0", 4)),
            "line 1, column 1: the text is UTF-16 or UTF-32, or binary; save "
            "it as UTF-8");
  EXPECT_EQ(refusal(llvm::StringRef("{}\0{", 4)),
            "line 1, column 3: a byte of 0 is not JSON");
}

TEST(ParseJsonTest, a_byte_order_mark_is_skipped) {
  EXPECT_EQ(parsed("\xef\xbb\xbf[1]"), Value(llvm::json::Array{1}));
}

TEST(ParseJsonTest, integers_are_exact) {
  EXPECT_EQ(parsed("9007199254740993").getAsInteger(), 9007199254740993);
  EXPECT_EQ(parsed("-9223372036854775808").getAsInteger(), INT64_MIN);
  EXPECT_EQ(parsed("9223372036854775807").getAsInteger(), INT64_MAX);
  EXPECT_EQ(parsed("18446744073709551615").getAsUINT64(), UINT64_MAX);
  EXPECT_EQ(parsed("18446744073709551615").getAsInteger(), std::nullopt);
  EXPECT_EQ(parsed("18446744073709551616").getAsNumber(), 0x1p64);
  EXPECT_EQ(parsed("1e3").getAsInteger(), 1000);
  EXPECT_EQ(parsed("0.1").getAsNumber(), 0.1);
  EXPECT_EQ(parsed("1e-400").getAsNumber(), 0);
}

TEST(ParseJsonTest, numbers_that_json_has_not_are_named) {
  EXPECT_EQ(refusal("{\"a\": NaN}"),
            "line 1, column 7: NaN is not JSON; write null or a number");
  EXPECT_EQ(refusal("[1,\n -Infinity]"),
            "line 2, column 3: Infinity is not JSON; write null or a number");
  EXPECT_EQ(refusal("[1e999]"),
            "line 1, column 6: the number is beyond all doubles");
  EXPECT_NE(refusal("[01]"), "none");
  EXPECT_NE(refusal("[.5]"), "none");
}

TEST(ParseJsonTest, keys_that_come_twice_are_refused) {
  EXPECT_EQ(refusal(R"({"a": {"b": 1}, "c": 3, "a": [2]})"),
            "line 1, column 27: the key 'a' comes twice in an object; remove "
            "one of the two");
  EXPECT_EQ(refusal(R"({"a": {"a": 1}, "b": {"a": 1}})"), "none");
}

TEST(ParseJsonTest, each_limit_is_named) {
  const JsonLimits limits = {20, 3, 40, "a plan", 8};
  EXPECT_EQ(refusal("[[[]], 1, 2, 3, 4  ]", limits), "none");
  EXPECT_EQ(refusal("[[[]], 1, 2, 3, 4   ]", limits),
            "line 1, column 1: the text has 21 bytes; a plan has at most 20");
  EXPECT_EQ(refusal("[[[[]]]]", limits),
            "line 1, column 4: arrays and objects nest more than 3 deep, which "
            "is the most that a plan may have");
  // An object counts as 32 values.
  EXPECT_EQ(refusal("{\"a\":[1,2,3,4,5,6]}", limits), "none");
  EXPECT_EQ(refusal("[{},1,2,3,4,5,6,7]", limits), "none");
  EXPECT_EQ(refusal("[{},1,2,3,4,5,6,7,8]", limits),
            "line 1, column 20: there are more than 40 values, which is the "
            "most that a plan may have");
  EXPECT_EQ(refusal("[\"123456\"]", limits), "none");
  EXPECT_EQ(refusal("[\"1234567\"]", limits),
            "line 1, column 10: a string, or the blanks before a value, have "
            "more than 8 bytes");
  // A value that is cut off is no value.
  EXPECT_EQ(refusal("1234567890", limits),
            "line 1, column 9: a string, or the blanks before a value, have "
            "more than 8 bytes");
  EXPECT_EQ(refusal("12345678", limits), "none");
  EXPECT_NE(refusal("     12345", limits), "none");
  EXPECT_NE(refusal("7              8", limits), "none");
}

TEST(ParseJsonTest, deep_texts_are_refused) {
  auto nested = [](size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  const std::string deep = ": arrays and objects nest more than 64 deep, which "
                           "is the most that a config may have";
  EXPECT_EQ(refusal(nested(64)), "none");
  EXPECT_EQ(refusal("\n " + nested(65)), "line 2, column 66" + deep);
  EXPECT_EQ(refusal("[\"\\\"[[[\", " + std::string(1 << 20, '[')),
            "line 1, column 74" + deep);
  std::string objects;
  for (int i = 0; i < 100000; ++i)
    objects += "{\"a\":";
  EXPECT_EQ(refusal(objects), "line 1, column 321" + deep);
}

TEST(ParseJsonTest, errors_say_what_and_where) {
  EXPECT_EQ(refusal(""),
            "line 1, column 1: unexpected end of input; expected '[', '{', or "
            "a literal");
  EXPECT_EQ(refusal("{} x"), "line 1, column 4: invalid literal");
  EXPECT_EQ(refusal("version https://git-lfs.github.com/spec/v1\noid x\n"),
            "line 1, column 1: this is a pointer of Git LFS in place of the "
            "file itself; fetch it with: git lfs pull");
  EXPECT_NE(refusal("[1,]"), "none");
  EXPECT_NE(refusal("{\"a\" 1}"), "none");
  EXPECT_NE(refusal("// note\n{}"), "none");
  EXPECT_NE(refusal("{'a': 1}"), "none");
  EXPECT_EQ(reasonInLine(parseJson("[1 2]", json_kinds::config).takeError()),
            "column 4: unexpected number literal; expected ']'");
}

TEST(ParseJsonTest, values_are_those_of_the_text) {
  const char *text = R"({"n": null, "t": true, "f": false, "a": [1, "x", {}],
                         "o": {"i": -3, "d": 2.5}})";
  EXPECT_EQ(llvm::formatv("{0}", parsed(text)).str(),
            R"({"a":[1,"x",{}],"f":false,"n":null,"o":{"d":2.5,"i":-3},)"
            R"("t":true})");
}

TEST(ParseJsonTest, entries_are_taken_one_by_one) {
  std::string taken;
  llvm::raw_string_ostream out(taken);
  JsonEntries entries{"ops", [&](size_t depth, Value entry) {
                        out << depth << ":" << entry << " ";
                        return llvm::Error::success();
                      }};
  llvm::Expected<Value> rest = parseJson(
      R"({"a": {"ops": [0]}, "ops": [{"x": [1, 2]}, 3, "b"], "c": ["ops"]})",
      json_kinds::config, entries);
  ASSERT_TRUE(!!rest) << llvm::toString(rest.takeError());
  EXPECT_EQ(taken, R"(2:0 1:{"x":[1,2]} 1:3 1:"b" )");
  EXPECT_EQ(llvm::formatv("{0}", *rest).str(),
            R"({"a":{"ops":[]},"c":["ops"],"ops":[]})");
}

/// Each entry is an object of 32 values, its key and a number.
TEST(ParseJsonTest, taken_entries_do_not_add_up_to_the_limits) {
  JsonEntries entries{"ops",
                      [](size_t, Value) { return llvm::Error::success(); }};
  JsonLimits limits{1000, 8, 80, "such a text"};
  const char *text = R"({"ops": [{"a": 1}, {"a": 1}, {"a": 1}, {"a": 1}]})";
  EXPECT_TRUE(!!parseJson(text, limits, entries));
  llvm::Expected<Value> kept = parseJson(text, limits);
  EXPECT_TRUE(llvm::StringRef(llvm::toString(kept.takeError()))
                  .contains("there are more than 80 values"));
  llvm::Expected<Value> large =
      parseJson(R"({"ops": [{"a": {"b": 1}}]})", limits, entries);
  EXPECT_FALSE(!!large);
  llvm::consumeError(large.takeError());
}

TEST(ParseJsonTest, a_refused_entry_is_the_error_of_a_whole_text) {
  auto errorOf = [](const char *text) {
    JsonEntries entries{"ops", [](size_t, Value) {
                          return llvm::createStringError("not wanted");
                        }};
    return llvm::toString(
        parseJson(text, json_kinds::config, entries).takeError());
  };
  EXPECT_EQ(errorOf(R"({"ops": [1, 2]})"), "not wanted");
  EXPECT_EQ(errorOf(R"({"ops": [1, 2})").substr(0, 7), "line 1,");
}

static std::string bytesOf(size_t bytes) {
  return bytes % (1 << 20) == 0 ? std::to_string(bytes >> 20) + " MiB"
                                : std::to_string(bytes);
}

TEST(ParseJsonTest, the_page_of_limits_has_the_limits) {
  auto page = readText(LIMITS_PAGE, 1 << 20, "a page");
  ASSERT_TRUE(bool(page)) << llvm::toString(page.takeError());
  auto check = [&](const std::string &name, const JsonLimits &limits) {
    llvm::StringRef row =
        (*page)->getBuffer().split("\n| `" + name + "` |").second;
    std::string end = " | " + bytesOf(limits.bytes) + " | " +
                      std::to_string(limits.depth) + " | " +
                      std::to_string(limits.values) + " | " +
                      bytesOf(limits.string) + " |";
    EXPECT_TRUE(row.split('\n').first.ends_with(end)) << name << end;
  };
#define TSR_JSON_KIND(NAME, BYTES, DEPTH, VALUES, STRING, WHAT)                \
  check(#NAME, json_kinds::NAME);
#include "tessera/json_kinds.def"
#undef TSR_JSON_KIND
}
