//===- PrintableTest.cpp - texts from outside, for terminals --------------===//

#include "tessera/printable.hpp"
#include "runtime/support/Status.h"
#include <gtest/gtest.h>

using namespace tessera;

namespace {

TEST(Printable, VisibleTextStays) {
  const std::string text = "model.layers.0 'é' Übung 名前 \U0001f600 \\x1b";
  EXPECT_EQ(printable(text), text);
  EXPECT_EQ(printable(""), "");
}

TEST(Printable, ControlsAreWritten) {
  EXPECT_EQ(printable("\x1b]0;title\x07"), "\\x1b]0;title\\x07");
  EXPECT_EQ(printable(std::string_view("a\0b\x7f", 4)), "a\\x00b\\x7f");
  EXPECT_EQ(printable("\r\b\v"), "\\r\\x08\\x0b");
  // CSI of eight bits, as a byte and as a character.
  EXPECT_EQ(printable("\x9b"
                      "2J"),
            "\\x9b2J");
  EXPECT_EQ(printable("\xc2\x9b"
                      "2J"),
            "\\u009b2J");
}

TEST(Printable, HiddenCharactersAreWritten) {
  EXPECT_EQ(printable("a\u202egnp.exe"), "a\\u202egnp.exe");
  EXPECT_EQ(printable("\u2066\u2069\u200b\u2028\ufeff"),
            "\\u2066\\u2069\\u200b\\u2028\\ufeff");
  EXPECT_EQ(printable("\U000e0041"), "\\U000e0041");
}

TEST(Printable, BytesThatAreNoTextAreWritten) {
  EXPECT_EQ(printable("\xff"), "\\xff");
  EXPECT_EQ(printable("\xc0\x9b"), "\\xc0\\x9b");          // overlong
  EXPECT_EQ(printable("\xe0\x80\x8a"), "\\xe0\\x80\\x8a"); // overlong
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80"); // a surrogate
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
  EXPECT_EQ(printable("\xe5\x90"), "\\xe5\\x90"); // cut
}

TEST(Printable, LinesHaveNoBreaks) {
  EXPECT_EQ(printable("a\nerror: b\tc"), "a\\nerror: b\\tc");
  EXPECT_EQ(printable("a\nb\tc\x1b", Printed::Text), "a\nb\tc\\x1b");
  // A family is several emojis; between other letters the joiner is a spoof.
  const std::string family = "\U0001f469\u200d\U0001f466";
  EXPECT_EQ(printable(family, Printed::Text), family);
  EXPECT_EQ(printable("we\u200dight"), "we\\u200dight");
}

TEST(Printable, NamesKeepWhatJoinsTheirLetters) {
  // A family, a heart of fire, and a Persian word.
  for (const std::string name :
       {"\U0001f469\u200d\U0001f466", "\u2764\ufe0f\u200d\U0001f525",
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "\u2764\ufe0f"})
    EXPECT_EQ(printable(name), name);
  EXPECT_EQ(printable("\u540d\u200c\u540d"), "\u540d\\u200c\u540d");
  EXPECT_EQ(printable("\u0645\u200c\u200c\u062e"),
            "\u0645\\u200c\\u200c\u062e");
  EXPECT_EQ(printable("\u0645\u200d"), "\u0645\\u200d");
  EXPECT_EQ(printable("\u0645\u200d\u061c"), "\u0645\\u200d\\u061c");
  EXPECT_EQ(printable("\u2764\ufe0f\ufe0f"), "\u2764\ufe0f\\ufe0f");
}

TEST(Printable, IsAlwaysPrintableAndTheSameAgain) {
  for (int first = 0; first < 256; ++first)
    for (int second = 0; second < 256; ++second)
      for (int third : {0x00, 0x41, 0x80, 0x9b, 0xa0, 0xbf, 0xff}) {
        const char bytes[] = {char(first), char(second), char(third)};
        const std::string text = printable(std::string_view(bytes, 3));
        EXPECT_EQ(printable(text), text);
        EXPECT_LE(text.size(), 12u);
        for (unsigned char byte : text)
          ASSERT_TRUE(byte >= 0x20 && byte != 0x7f) << first << " " << second;
      }
}

TEST(Printable, LongValuesAreCut) {
  EXPECT_EQ(printableValue(std::string(600, 'x')), std::string(600, 'x'));
  EXPECT_EQ(printableValue(std::string(601, 'x')),
            std::string(200, 'x') + "..(601 bytes)");
  // The cut is between characters.
  EXPECT_EQ(printableValue(std::string(199, 'x') + "é" + std::string(500, 'y')),
            std::string(199, 'x') + "..(701 bytes)");
}

TEST(Printable, LongMessagesKeepTheirEnds) {
  const std::string text =
      "begin " + std::string(1 << 20, '\x1b') + " give --fix";
  const std::string message = printableMessage(text);
  EXPECT_EQ(message.substr(0, 6), "begin ");
  EXPECT_NE(message.find("bytes left out"), std::string::npos);
  EXPECT_EQ(message.substr(message.size() - 10), "give --fix");
  EXPECT_LT(message.size(), 8192u);
}

TEST(Printable, PartsMayCutCharacters) {
  const std::string text = "a\u202e\u00e9\xc2\x9b\x1b\U0001f600\xe5\x90";
  for (size_t size = 1; size < text.size(); ++size) {
    PrintableParts parts;
    std::string made;
    for (size_t at = 0; at < text.size(); at += size)
      made += parts.push(std::string_view(text).substr(at, size));
    made += parts.finish();
    EXPECT_EQ(made, printable(text));
  }
}

TEST(Printable, WordsOfAShellRunNothing) {
  EXPECT_EQ(shellWord("runs/a-1.bin"), "runs/a-1.bin");
  EXPECT_EQ(shellWord("a b"), "'a b'");
  EXPECT_EQ(shellWord("$(touch x)`id`;"), "'$(touch x)`id`;'");
  EXPECT_EQ(shellWord("it's"), "'it'\\''s'");
  EXPECT_EQ(shellWord(""), "''");
}

TEST(LastError, IsALineThatATerminalPrints) {
  const std::string name = "w\x1b]52;c;cm0=\x07\nerror: all is lost";
  EXPECT_EQ(report(Status{TSR_CORRUPT, "tensor '" + name + "' is bad"}),
            TSR_CORRUPT);
  EXPECT_STREQ(tsr_last_error(), "tensor 'w\\x1b]52;c;cm0=\\x07\\nerror: all "
                                 "is lost' is bad");
  tsr_set_last_error(TSR_CORRUPT, tsr_last_error());
  EXPECT_STREQ(tsr_last_error(), "tensor 'w\\x1b]52;c;cm0=\\x07\\nerror: all "
                                 "is lost' is bad");
}

TEST(LastError, QuotedValuesAreCut) {
  const std::string text =
      concat("tensor '", std::string(5000, 'x'), "' has ", 3, " values");
  EXPECT_EQ(text, "tensor '" + std::string(200, 'x') +
                      "..(5000 bytes)' has 3 values");
  // A part that is no value stays whole.
  EXPECT_EQ(concat(std::string(900, 'x'), " y").size(), 902u);
}

TEST(LastError, HoldsTheEndOfTheLongest) {
  tsr_set_last_error(TSR_IO, (std::string(1 << 16, '\xff') + " end").c_str());
  const std::string text = tsr_last_error();
  EXPECT_LT(text.size(), 8192u);
  EXPECT_EQ(text.substr(text.size() - 4), " end");
}

} // namespace
