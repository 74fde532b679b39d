//===- SentencePieceTest.cpp - models of sentencepiece from strangers -----===//
// The library trusts its models, so that each is checked before it.
#include "test/Runtime/tokenizer/Files.h"
#include "test/Runtime/tokenizer/Tables.h"

#include <limits>

using namespace tessera;
using namespace texts;

namespace {

//===----------------------------------------------------------------------===//
// Models in protobuf's wire format
//===----------------------------------------------------------------------===//

std::string varint(uint64_t value) {
  std::string bytes;
  for (; value >= 128; value >>= 7)
    bytes += static_cast<char>(value | 128);
  return bytes + static_cast<char>(value);
}

std::string number(int field, uint64_t value) {
  return varint(field << 3) + varint(value);
}

std::string text(int field, const std::string &bytes) {
  return varint(field << 3 | 2) + varint(bytes.size()) + bytes;
}

enum Type { Normal = 1, Unknown, Control, UserDefined, Unused, Byte };

std::string piece(const std::string &content, float score, int type) {
  std::string bits(4, '\0');
  std::memcpy(bits.data(), &score, 4);
  return text(1,
              text(1, content) + varint(2 << 3 | 5) + bits + number(3, type));
}

std::string begins() {
  return piece("<unk>", 0, Unknown) + piece("<s>", 0, Control) +
         piece("</s>", 0, Control);
}

/// Returns a model of the letters a, b and a mark for spaces, with the ids 3, 4
/// and 5.
std::string letters() {
  return begins() + piece("a", -1, Normal) + piece("b", -1, Normal) +
         piece("\u2581", -2, Normal);
}

std::string ofType(int type) { return text(2, number(3, type)); }

std::string withRules(const Trie &trie, const std::string &texts) {
  return letters() + text(3, text(2, tableOf(trie, texts)));
}

std::string loadError(const std::string &model) {
  return errorOf(TSR_CORRUPT, [&] { open(model, ".model"); });
}

//===----------------------------------------------------------------------===//
// Tests
//===----------------------------------------------------------------------===//

TEST(SentencePieceModel, Encodes) {
  for (int type : {1, 2}) {
    Tokenizer tokenizer = open(letters() + ofType(type), ".model");
    EXPECT_EQ(tokenizer.vocabularySize(), 6);
    Ids ids = tokenizer.encode("ab zza", TSR_WITHOUT_SPECIAL);
    EXPECT_EQ(ids, (Ids{5, 3, 4, 5, 0, 3}));
    EXPECT_EQ(tokenizer.decode({5, 3, 4, 5, 3}, TSR_WITHOUT_SPECIAL), "ab a");
  }
}

TEST(SentencePieceModel, IsProtobuf) {
  expectIn("is no model of sentencepiece: it is torn at byte ",
           loadError(letters() + '\x0a'));
  expectIn(
      "a field of 1099511627776 bytes does not end",
      loadError(letters() + varint(1 << 3 | 2) + varint(uint64_t(1) << 40)));
  expectIn("piece 6 is torn at byte 2 of 2: a number does not end",
           loadError(letters() + text(1, "\x18\xff")));
  expectIn("a number has more than ten bytes",
           loadError(varint(1 << 3) + std::string(11, '\xff')));
  expectIn("there is no kind 3 of fields", loadError("\x0b"));
  expectIn("there is no field 0", loadError(std::string(2, '\0')));
  expectIn("has 0 unknown pieces, a model has one", loadError(""));
}

TEST(SentencePieceModel, HasPiecesOfTexts) {
  auto expectPiece = [](const std::string &added, const std::string &part) {
    expectIn(part, loadError(letters() + added));
  };
  constexpr float infinite = std::numeric_limits<float>::infinity();
  constexpr float none = std::numeric_limits<float>::quiet_NaN();
  expectPiece(piece("", 0, Normal),
              "piece 6 of 0 bytes, pieces have 1 to 1024");
  expectPiece(piece(std::string(1025, 'c'), 0, Normal),
              "piece 6 of 1025 bytes");
  expectPiece(piece("\xc3", 0, Normal), "is no UTF-8 without zeros");
  expectPiece(piece(std::string("c\0d", 3), 0, Normal), "without zeros");
  expectPiece(piece("c", infinite, Normal), "whose score is not finite");
  expectPiece(piece("c", none, Normal), "'c' whose score is not finite");
  expectPiece(piece("c", 0, 7), "piece 6 of type 7, types are 1 to 6");
  expectPiece(piece("a", 0, Normal), "has the piece 'a' twice");
  expectPiece(piece("c", 0, Unknown), "has 2 unknown pieces");
  expectPiece(piece("<0x0A>", 0, Byte), "1 pieces of bytes, but no byte_fall");
  expectPiece(piece("c", 0, Byte), "'c', which is no byte such as <0x0A>");
  expectPiece(text(2, number(35, 1)) + piece("<0x0A>", 0, Byte),
              "has pieces of 1 bytes, its byte_fallback needs 256");
  expectPiece(text(2, number(42, 99)), "has the eos_id 99, but 6 pieces");
  expectPiece(text(2, text(44, std::string(100, '?'))),
              "has an unk_surface of 100 bytes");
  expectIn("has no piece of a text", loadError(begins()));
  EXPECT_EQ(errorOf(
                TSR_UNSUPPORTED,
                [] {
                  open(letters() + ofType(3), ".model");
                }).find("supported are 1 (unigram) and 2 (bpe)") ==
                std::string::npos,
            false);
}

/// The library has an array of 64 for those that begin at one place.
TEST(SentencePieceModel, HasFewUserDefinedPiecesThatBeginWithEachOther) {
  auto model = [](size_t most) {
    std::string content = letters();
    for (size_t bytes = 1; bytes <= most; ++bytes)
      content += piece(std::string(bytes, 'c'), 0, UserDefined);
    return content;
  };
  Tokenizer tokenizer = open(model(64), ".model");
  EXPECT_EQ(tokenizer.encode(std::string(128, 'c'), TSR_WITHOUT_SPECIAL),
            (Ids{5, 69, 69}));
  expectIn("has more than 64 user-defined pieces that begin with each other",
           loadError(model(65)));
}

TEST(SentencePieceModel, HasRulesThatLieInTheirTable) {
  const std::string texts = std::string("b\0\u00e9\0", 5);
  Tokenizer tokenizer = open(withRules(letterRule(0), texts), ".model");
  EXPECT_EQ(tokenizer.encode("ab", TSR_WITHOUT_SPECIAL), (Ids{5, 4, 4}));
  auto expectRules = [&](const Trie &trie, const std::string &part) {
    expectIn(part, loadError(withRules(trie, texts)));
  };
  expectRules(letterRule(3), "begins at 3, which is within a character");
  expectRules(letterRule(100), "begins at 100, its texts have 6 bytes");
  Trie far = letterRule(0);
  far.add(256, 'b', 1 << 20);
  expectRules(far, "leads to the unit 1049087 of its trie, which has 512");
  Trie loop = letterRule(0);
  loop.units[256 ^ 'b'] = 'b' | (256 ^ 'b' ^ 256) << 10;
  expectRules(loop, "has a trie that leads from the unit ");
  expectIn("bytes, of which 2048 are said to be a trie; it is torn",
           loadError(letters() +
                     text(3, text(2, tableOf(Trie(), "").substr(0, 1000)))));
}

/// The library has an array of 32 for those that begin at one place.
TEST(SentencePieceModel, HasFewRulesThatBeginWithEachOther) {
  auto rules = [](size_t count) {
    Trie trie(256 * (count + 3));
    uint32_t base = 256;
    for (size_t i = 0; i < count; ++i) {
      const uint32_t at = base ^ 'a', next = 256 * (i + 2);
      base = trie.addRule(base, 'a', at ^ next, 0);
    }
    return withRules(trie, std::string("b\0", 2));
  };
  Tokenizer tokenizer = open(rules(32), ".model");
  EXPECT_EQ(tokenizer.encode(std::string(40, 'a'), TSR_WITHOUT_SPECIAL),
            (Ids{5, 4, 4}));
  expectIn("has 33 rules that begin with each other, at most 32",
           loadError(rules(33)));
}

TEST(SentencePieceModel, RulesLengthenATextSixteenTimes) {
  auto encode = [](const std::string &made) {
    return open(withRules(letterRule(0), made + '\0'), ".model")
        .encode(std::string(1000, 'a'), TSR_WITHOUT_SPECIAL)
        .size();
  };
  EXPECT_EQ(encode(std::string(16, 'b')), 16001u);
  for (const std::string &made : {std::string(17, 'b'), std::string(6, ' ')})
    expectIn("times, at most 16 times is done",
             errorOf(TSR_UNSUPPORTED, [&] { encode(made); }));
}

/// The library copies all of a run for each character of it.
TEST(SentencePieceModel, EncodesLongRunsOfUnknownCharacters) {
  std::string unknown;
  for (int i = 0; i < 200000; ++i)
    unknown += i % 2 == 0 ? "\u4e2d" : "\u6587";
  for (int type : {1, 2}) {
    Tokenizer tokenizer = open(letters() + ofType(type), ".model");
    EXPECT_EQ(
        tokenizer.encode("a" + unknown + "b a" + unknown, TSR_WITHOUT_SPECIAL),
        (Ids{5, 3, 0, 4, 5, 3, 0}));
  }
  // Within a piece, but none by itself.
  Tokenizer within = open(letters() + piece("cd", -1, Normal), ".model");
  EXPECT_EQ(within.encode("ccd", TSR_WITHOUT_SPECIAL), (Ids{5, 0, 6}));
  expectIn("has no pieces for more than 16384 bytes in a row, before byte "
           "16385 of a text of 5000000",
           errorOf(TSR_UNSUPPORTED, [&] {
             within.encode(std::string(5000000, 'c'), TSR_WITHOUT_SPECIAL);
           }));
}

TEST(SentencePieceModel, IsNotTestedByItself) {
  std::string sample = text(1, "ab") + text(2, "\x1b[31m");
  Tokenizer tokenizer =
      open(letters() + text(4, text(1, sample)) + ofType(1), ".model");
  EXPECT_EQ(tokenizer.vocabularySize(), 6);
}

} // namespace
