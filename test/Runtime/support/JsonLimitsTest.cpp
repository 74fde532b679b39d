//===- JsonLimitsTest.cpp - JSON that asks for more than it may -----------===//
#include "runtime/support/JsonLimits.h"
#include "runtime/support/Status.h"

#include "test/Runtime/fixture/Fixture.h"

#include <gtest/gtest.h>

using namespace tessera;

namespace {

std::string refusal(const std::string &text, const JsonLimits &limits) {
  try {
    parseJson("x", text, limits);
    return "";
  } catch (const Error &error) {
    EXPECT_EQ(error.status.code, TSR_CORRUPT);
    return error.status.message;
  }
}

std::string nested(size_t depth) {
  return std::string(depth, '[') + std::string(depth, ']');
}

TEST(JsonLimits, WhatIsWithinThemIsRead) {
  JsonLimits limits{20, 2, 6};
  EXPECT_EQ(refusal("{\"a\":[1,2],\"b\":3}", {20, 2, 10}), "");
  EXPECT_EQ(refusal("[[1,2,3]]", limits), "");
  EXPECT_EQ(refusal("7", {1, 0, 1}), "");
  EXPECT_EQ(refusal("\xef\xbb\xbf 7 \n", {9, 0, 1}), "");
}

TEST(JsonLimits, EachIsNamed) {
  EXPECT_EQ(refusal("[1,2,3]", {7, 9, 9}), "");
  EXPECT_EQ(refusal("[1,2,3]", {6, 9, 9, "a plan"}),
            "x: line 1, column 1: the text has 7 bytes; a plan has at most 6");
  EXPECT_EQ(refusal("[[[]]]", {9, 3, 9}), "");
  EXPECT_EQ(refusal("[[[]]]", {9, 2, 9, "a plan"}),
            "x: line 1, column 3: arrays and objects nest more than 2 deep, "
            "which is the most that a plan may have");
  EXPECT_CONTAINS(refusal("{\"a\":\n {\"b\":1}}", {99, 1, 9}),
                  "x: line 2, column 2: arrays and objects nest more than 1 ");
  EXPECT_EQ(refusal("[1,2,3]", {9, 9, 4}), "");
  EXPECT_EQ(refusal("[1,2,3]", {9, 9, 3, "a plan"}),
            "x: line 1, column 7: there are more than 3 values, which is the "
            "most that a plan may have");
  EXPECT_EQ(refusal("{\"a\":1}", {9, 9, 6}), "");
  EXPECT_CONTAINS(refusal("{\"a\":1}", {9, 9, 5}), "more than 5 values");
  EXPECT_EQ(refusal("[1,", {9, 9, 9}),
            "x is not JSON: line 1, column 4: unexpected end of input; "
            "expected '[', '{', or a literal");
}

TEST(JsonLimits, ARepeatedKeyIsRefused) {
  const std::string text = "{\"a\":{\"b\":1},\"b\":2,\"a\":3}";
  EXPECT_EQ(refusal(text, {99, 9, 99}),
            "x: line 1, column 22: the key 'a' comes twice in an object; "
            "remove one of the two");
  EXPECT_EQ(refusal("{\"a\":{\"a\":[1,1]}}", {99, 9, 99}), "");
  // Equal are the keys, not how they are written.
  EXPECT_CONTAINS(refusal("{\"a\":1,\"\\u0061\":1}", {99, 9, 99}), "'a' comes");
}

TEST(JsonLimits, LongNumbersAndStringsAreRefused) {
  const JsonLimits limits = {100 << 20, 9, 99};
  auto digits = [](size_t count) { return std::string(count, '1'); };
  EXPECT_EQ(refusal("0." + digits(998), limits), "");
  EXPECT_CONTAINS(refusal("[0." + digits(999) + "]", limits),
                  "a number has 1001 characters; at most 1000 are read");
  EXPECT_EQ(refusal(digits(300), limits), "");
  EXPECT_CONTAINS(refusal(digits(2000), limits), "beyond all doubles");
  const std::string text(64 << 20, 'a');
  EXPECT_CONTAINS(refusal("[\"" + text + "\"]", limits),
                  "have more than 67108864 bytes");
  EXPECT_EQ(refusal("[\"" + text.substr(2) + "\"]", limits), "");
}

TEST(JsonLimits, TextBehindTheValueIsRefused) {
  const JsonLimits limits = {99, 9, 99};
  EXPECT_CONTAINS(refusal("{} []", limits), "line 1, column 4");
  EXPECT_EQ(refusal(std::string("{}\0", 3), limits),
            "x is not JSON: line 1, column 3: a byte of 0 is not JSON");
  EXPECT_CONTAINS(refusal("\"\\udc00\"", limits), "surrogate");
  EXPECT_CONTAINS(refusal("\"\xc0\x80\"", limits), "ill-formed UTF-8 byte");
}

TEST(JsonLimits, DepthOfMillionsIsRefusedAtTheLimit) {
  EXPECT_CONTAINS(refusal(std::string(3000000, '['), {4000000, 64, 4000000}),
                  "x: line 1, column 65: arrays and objects nest more than 64");
  EXPECT_CONTAINS(refusal(nested(1500000), {4000000, 64, 4000000}),
                  "line 1, column 65");
}

/// Every kind is read at its depth, and not beyond it.
TEST(JsonLimits, KindsHaveTheirDepth) {
#define TSR_JSON_KIND(NAME, BYTES, DEPTH, VALUES, STRING, WHAT)                \
  EXPECT_EQ(refusal(nested(DEPTH), json_kinds::NAME), "");                     \
  EXPECT_CONTAINS(refusal(nested(DEPTH + 1), json_kinds::NAME),                \
                  "deep, which is the most that " WHAT " may have");
#include "tessera/json_kinds.def"
#undef TSR_JSON_KIND
}

/// An artifact with many micro-batches lists so many calls. If time grew with
/// the square of them, this would take minutes.
TEST(JsonLimits, LongArraysOfObjectsAreRead) {
  std::string text = "[{\"a\":0}";
  for (int i = 1; i < 300000; ++i)
    text += ",{\"a\":" + std::to_string(i) + "}";
  text += "]";
  JsonTree read = parseJson("x", text, {text.size(), 2, 2000000});
  EXPECT_EQ(read.root.size(), 300000u);
  EXPECT_EQ(read.root.back()["a"], 299999);
}

TEST(JsonLimits, BytesThatAreNoTextAreWritten) {
  EXPECT_EQ(writeJson("a\xff\n"), "\"a\\ufffd\\n\"");
}

} // namespace
