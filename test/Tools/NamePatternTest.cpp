//===- NamePatternTest.cpp - which parameters an option names -------------===//

#include "tessera/Options/NamePattern.h"
#include "tessera/Options/PlanFlags.h"
#include <gtest/gtest.h>

using namespace tessera;

namespace {

bool matches(const char *pattern, const char *name) {
  return NamePattern(pattern).matches(name);
}

TEST(NamePattern, IsOfTheWholeName) {
  EXPECT_TRUE(matches("h.0.bias", "h.0.bias"));
  EXPECT_FALSE(matches("h.0.bias", "h.0.bias2"));
  EXPECT_FALSE(matches("bias", "h.0.bias"));
  EXPECT_FALSE(matches("h.0.bia", "h.0.bias"));
  EXPECT_TRUE(matches("", ""));
  EXPECT_FALSE(matches("", "a"));
}

TEST(NamePattern, StarStandsForAnyLetters) {
  EXPECT_TRUE(matches("*", ""));
  EXPECT_TRUE(matches("*", "a.b"));
  EXPECT_TRUE(matches("*.bias", "h.0.attn.bias"));
  EXPECT_FALSE(matches("*.bias", "bias"));
  EXPECT_TRUE(matches("h.*.weight", "h.11.mlp.weight"));
  EXPECT_TRUE(matches("*aab", "aaaab"));
  EXPECT_TRUE(matches("*a*b**", "xxaxxbxx"));
  EXPECT_FALSE(matches("*a*b*c", "abab"));
  // A name of a checkpoint may hold a star: all experts.
  EXPECT_TRUE(matches("*.experts.*.w1", "m.experts.*.w1"));
}

TEST(NamePattern, StarsTakeNoExponentialTime) {
  std::string name(2000, 'a'), pattern;
  for (int i = 0; i < 200; ++i)
    pattern += "a*";
  EXPECT_FALSE(NamePattern(pattern + "b").matches(name));
}

TEST(NamePattern, SetsStandForOneLetter) {
  EXPECT_TRUE(matches("h.?.w", "h.7.w"));
  EXPECT_FALSE(matches("h.?.w", "h.10.w"));
  EXPECT_TRUE(matches("h.[0-3].w", "h.3.w"));
  EXPECT_FALSE(matches("h.[0-3].w", "h.4.w"));
  EXPECT_TRUE(matches("h.[!0-3].w", "h.4.w"));
  EXPECT_FALSE(matches("h.[!0-3].w", "h.0.w"));
  EXPECT_TRUE(matches("h.[aw-z-].w", "h.-.w"));
  EXPECT_TRUE(matches("[]]", "]"));
  EXPECT_FALSE(matches("h.[0-3]", "h."));
  EXPECT_TRUE(matches("*[0-9].w", "h.1x.2.w"));
}

TEST(NamePattern, RefusesWhatNobodyMeans) {
  EXPECT_EQ(checkPattern("--freeze", "*.w[!0-3]?"), "");
  EXPECT_NE(checkPattern("--freeze", "").find("--freeze: a pattern is empty"),
            std::string::npos);
  EXPECT_NE(checkPattern("--freeze", "h.[0-3").find("'h.[0-3' has a [ that"),
            std::string::npos);
}

TEST(NamePattern, ThatMatchesNothingIsAnError) {
  std::vector<std::string> names = {"a.weight", "a.bias", "b.weight", "c"};
  NamePatterns patterns = {NamePattern("*.bias"), NamePattern("d*")};
  EXPECT_EQ(checkPatternsMatch("--freeze", {patterns[0]}, names), "");
  EXPECT_EQ(checkPatternsMatch("--freeze", patterns, names),
            "--freeze: no parameter is called 'd*'; a pattern is of the whole "
            "name, in which * stands for any letters. The 4 parameters begin "
            "with 'a.weight', 'a.bias', 'b.weight'");
  EXPECT_TRUE(matchesAny(patterns, "a.bias"));
  EXPECT_FALSE(matchesAny(patterns, "a.weight"));
  EXPECT_FALSE(matchesAny({}, "a.weight"));
}

TEST(NamePattern, FlagsTakeSeveral) {
  NamePatterns patterns;
  EXPECT_EQ(readFlag("--freeze", FlagCheck::Any, "a,*.b", patterns), "");
  EXPECT_EQ(patterns, (NamePatterns{NamePattern("a"), NamePattern("*.b")}));
  EXPECT_EQ(flagText(FlagCheck::Any, patterns), "a,*.b");
  EXPECT_NE(readFlag("--freeze", FlagCheck::Any, "a,,b", patterns), "");
  EXPECT_NE(readFlag("--freeze", FlagCheck::Any, "", patterns), "");
  EXPECT_NE(readFlag("--freeze", FlagCheck::Any, "a,", patterns), "");
}

} // namespace
