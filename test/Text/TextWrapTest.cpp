//===- TextWrapTest.cpp - text in lines of a width ------------------------===//

#include "tessera/Text/TextWrap.h"
#include <gtest/gtest.h>

using namespace tessera;

namespace {

using Lines = std::vector<std::string>;

TEST(TextWrap, BreaksAtSpaces) {
  EXPECT_EQ(wrapLines("one two three", 7), (Lines{"one two", "three"}));
  EXPECT_EQ(wrapLines("one two three", 13), Lines{"one two three"});
}

TEST(TextWrap, ALineIsNeverMissing) {
  EXPECT_EQ(wrapLines("", 4), Lines{""});
  EXPECT_EQ(wrapLines("  ", 4), Lines{""});
}

TEST(TextWrap, BreaksLongWordsAfterTheirSigns) {
  EXPECT_EQ(wrapLines("h.0-5.attention", 8),
            (Lines{"h.0-5.", "attentio", "n"}));
  EXPECT_EQ(wrapLines("a --b|c|d", 6), (Lines{"a", "--b|c|", "d"}));
  EXPECT_EQ(wrapLines("abc", 1), (Lines{"a", "b", "c"}));
}

TEST(TextWrap, IndentsWhatFollows) {
  EXPECT_EQ(wrapText("one two three", 9, 2), "one two\n  three");
  EXPECT_EQ(wrapText("one two three", 7, 2), "one two\n  three");
  EXPECT_EQ(wrapBlock("one two three", 7, 2), "one\n  two\n  three");
  EXPECT_EQ(wrapText("one", 2, 2), "one");
  EXPECT_EQ(wrapBlock("one", 1, 2), "o\n  n\n  e");
}

} // namespace
