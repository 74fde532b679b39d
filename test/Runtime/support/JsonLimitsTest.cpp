//===- JsonLimitsTest.cpp - JSON that asks for more than it may -----------===//
#include "runtime/support/JsonLimits.h"
#include "runtime/support/Status.h"

#include <gtest/gtest.h>

using namespace tessera;

namespace {

std::string refusal(const std::string &text, const JsonLimits &limits) {
  try {
    parseJson("x", text.data(), text.data() + text.size(), limits);
    return "";
  } catch (const Error &error) {
    EXPECT_EQ(error.status.code, TSR_CORRUPT);
    return error.status.message;
  }
}

TEST(JsonLimits, WhatIsWithinThemIsRead) {
  JsonLimits limits{20, 2, 6};
  EXPECT_EQ(refusal("{\"a\":[1,2],\"b\":3}", {20, 2, 7}), "");
  EXPECT_EQ(refusal("[[1,2,3]]", limits), "");
  EXPECT_EQ(refusal("7", {1, 0, 1}), "");
}

TEST(JsonLimits, EachIsNamed) {
  EXPECT_EQ(refusal("[1,2,3]", {6, 9, 9}), "x has 7 bytes, at most 6 are read");
  EXPECT_EQ(refusal("[[[]]]", {9, 2, 9}),
            "x nests arrays and objects more than 2 deep");
  EXPECT_EQ(refusal("{\"a\":{\"b\":1}}", {99, 1, 9}),
            "x nests arrays and objects more than 1 deep");
  EXPECT_EQ(refusal("[1,2,3]", {9, 9, 3}), "x has more than 3 values");
  EXPECT_EQ(refusal("{\"a\":1}", {9, 9, 2}), "x has more than 2 values");
  EXPECT_NE(refusal("[1,", {9, 9, 9}).find("x is not JSON: "),
            std::string::npos);
}

TEST(JsonLimits, ARepeatedKeyIsRefusedWhereThatIsAsked) {
  const std::string text = "{\"a\":{\"b\":1},\"b\":2,\"a\":3}";
  EXPECT_EQ(refusal(text, {99, 9, 99}), "");
  EXPECT_EQ(refusal(text, {99, 9, 99, RepeatedKey::Refused}),
            "x has 'a' twice; write it anew");
  EXPECT_EQ(refusal("{\"a\":{\"a\":[1,1]}}", {99, 9, 99, RepeatedKey::Refused}),
            "");
}

TEST(JsonLimits, DepthOfMillionsIsRefusedAtTheLimit) {
  EXPECT_EQ(refusal(std::string(3000000, '['), {4000000, 64, 4000000}),
            "x nests arrays and objects more than 64 deep");
}

/// An artifact with many micro-batches lists so many calls. If time grew with
/// the square of them, this would take minutes.
TEST(JsonLimits, LongArraysOfObjectsAreRead) {
  std::string text = "[{\"a\":0}";
  for (int i = 1; i < 300000; ++i)
    text += ",{\"a\":" + std::to_string(i) + "}";
  text += "]";
  JsonTree read = parseJson("x", text.data(), text.data() + text.size(),
                            {text.size(), 2, 1000000});
  EXPECT_EQ(read.root.size(), 300000u);
  EXPECT_EQ(read.root.back()["a"], 299999);
}

TEST(JsonLimits, BytesThatAreNoTextAreWritten) {
  EXPECT_EQ(writeJson("a\xff\n"), "\"a\\ufffd\\n\"");
}

} // namespace
