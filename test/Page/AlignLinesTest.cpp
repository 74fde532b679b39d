//===- AlignLinesTest.cpp - which lines of a text were in another one -----===//

#include "lib/Page/AlignLines.h"
#include <algorithm>
#include <gtest/gtest.h>
#include <string>

using namespace tessera;

namespace {

/// A line is a letter, whose small and large forms are versions of one.
std::vector<LineKey> keys(const std::string &text) {
  std::vector<LineKey> all;
  for (char c : text)
    all.push_back({static_cast<uint32_t>(c), static_cast<uint32_t>(c | 32)});
  return all;
}

std::vector<int64_t> align(const std::string &before,
                           const std::string &after) {
  return alignLines(keys(before), keys(after));
}

using Lines = std::vector<int64_t>;

TEST(AlignLinesTest, EqualTexts) {
  EXPECT_EQ(align("abc", "abc"), Lines({0, 1, 2}));
}

TEST(AlignLinesTest, EmptyTexts) {
  EXPECT_EQ(align("", ""), Lines());
  EXPECT_EQ(align("", "ab"), Lines({-1, -1}));
  EXPECT_EQ(align("ab", ""), Lines());
}

TEST(AlignLinesTest, InsertedAndDeletedLines) {
  EXPECT_EQ(align("abcd", "axbyd"), Lines({0, -1, 1, -1, 3}));
}

TEST(AlignLinesTest, VersionsAreFoundBetweenEqualLines) {
  EXPECT_EQ(align("abc", "aBc"), Lines({0, 1, 2}));
  EXPECT_EQ(align("abc", "ABC"), Lines({0, 1, 2}));
}

TEST(AlignLinesTest, AnEqualLineIsPreferredToAVersion) {
  EXPECT_EQ(align("ab", "aAb"), Lines({0, -1, 1}));
  EXPECT_EQ(align("ab", "Aab"), Lines({-1, 0, 1}));
}

TEST(AlignLinesTest, TheLongestCommonTextIsFound) {
  // Myers' own example: 4 of 7 lines.
  Lines lines = align("abcabba", "cbabac");
  EXPECT_EQ(std::count(lines.begin(), lines.end(), -1), 2);
  Lines found;
  for (int64_t line : lines)
    if (line >= 0)
      found.push_back(line);
  EXPECT_TRUE(std::is_sorted(found.begin(), found.end()));
}

TEST(AlignLinesTest, TextsWithoutCommonLinesDoNotTakeLong) {
  std::string before(20000, 'a'), after(20000, 'b');
  EXPECT_EQ(align(before + "z", after + "z").back(), 20000);
}

} // namespace
