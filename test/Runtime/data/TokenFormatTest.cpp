//===- TokenFormatTest.cpp - which files are tokens, and how wide ---------===//
#include "test/Runtime/data/TokenFiles.h"

#include <algorithm>

using namespace fixture;

namespace {

class TokenFormat : public TokenFiles {};

template <class Integer> std::string swapped(std::vector<Integer> values) {
  for (Integer &value : values) {
    auto *bytes = reinterpret_cast<char *>(&value);
    std::reverse(bytes, bytes + sizeof value);
  }
  return bytesOf(values);
}

//===----------------------------------------------------------------------===//
// Files that are read
//===----------------------------------------------------------------------===//

TEST_F(TokenFormat, RawTokensAreAsWideAsAskedFor) {
  EXPECT_EQ(ids("a.bin", inUint32(), "uint32"), five);
  EXPECT_EQ(tsr_data_token_bytes(data), 4);
  EXPECT_EQ(ids("a.bin", inUint16(), "uint16"), fiveShort);
  EXPECT_EQ(tsr_data_token_bytes(data), 2);
  EXPECT_EQ(ids("a.bin", inUint16()), fiveShort);
  EXPECT_EQ(ids("a.bin", "bytes", "text"),
            (std::vector<int32_t>{'b', 'y', 't', 'e', 's'}));
  EXPECT_EQ(tsr_data_token_bytes(data), 1);
}

std::string llmc(std::vector<int32_t> header, const std::string &tokens) {
  header.resize(256);
  return bytesOf(header) + tokens;
}

TEST_F(TokenFormat, HeaderOfLlmcSaysHowWide) {
  for (const char *format : {"auto", "llmc"}) {
    EXPECT_EQ(ids("a.bin", llmc({20240520, 1, 5}, inUint16()), format),
              fiveShort);
    EXPECT_EQ(ids("a.bin", llmc({20240801, 7, 5}, inUint32()), format), five);
  }
  EXPECT_EQ(ids("any-name", llmc({20240801, 7, 5}, inUint32())), five);
}

/// Makes the bytes that numpy.save of NumPy 1.24 writes.
std::string npy(std::string dictionary, const std::string &array) {
  dictionary.resize(117, ' ');
  return std::string("\x93NUMPY\x01\x00\x76\x00", 10) + dictionary + "\n" +
         array;
}

std::string npyOf(const std::string &type, const std::string &shape,
                  const std::string &array) {
  return npy("{'descr': '" + type +
                 "', 'fortran_order': False, 'shape': " + shape + ", }",
             array);
}

TEST_F(TokenFormat, NumpyArraysAreRead) {
  EXPECT_EQ(ids("a.npy", npyOf("<u2", "(5,)", inUint16())), fiveShort);
  EXPECT_EQ(ids("a.npy", npyOf("<u4", "(5,)", inUint32())), five);
  EXPECT_EQ(ids("a.bin", npyOf("<i4", "(5,)", inUint32())), five);
  // Version 2 has a longer field of length.
  std::string version2 = npyOf("<u4", "(5,)", inUint32());
  version2.replace(6, 4, std::string("\x02\x00\x76\x00\x00\x00", 6));
  EXPECT_EQ(ids("a.npy", version2), five);
}

//===----------------------------------------------------------------------===//
// Headers that the file does not keep
//===----------------------------------------------------------------------===//

TEST_F(TokenFormat, LlmcThatIsNotWhatItSays) {
  write("new.bin", llmc({20240520, 7, 40}, shortIds));
  expectRefused("new.bin", nullptr, TSR_CORRUPT,
                "of version 7, supported with magic 20240520 is 1");
  write("old.bin", llmc({20240801, 1, 40}, longIds));
  expectRefused("old.bin", nullptr, TSR_CORRUPT,
                "of version 1, supported with magic 20240801 is 7");
  write("torn.bin", llmc({20240801, 7, 50}, longIds));
  expectRefused("torn.bin", nullptr, TSR_CORRUPT,
                "says it has 50 tokens, its 1184 bytes hold 40;");
  write("odd.bin", llmc({20240801, 7, 40}, longIds + "x"));
  expectRefused("odd.bin", "llmc", TSR_CORRUPT,
                "says it has 40 tokens, its 1185 bytes hold 40 and a part");
  write("negative.bin", llmc({20240520, 1, -1}, shortIds));
  expectRefused("negative.bin", nullptr, TSR_CORRUPT, "says it has -1 tokens");
  write("cut.bin", llmc({20240801, 7, 0}, "").substr(0, 12));
  expectRefused("cut.bin", nullptr, TSR_CORRUPT,
                "has 12 bytes and no llm.c header (1024 bytes");
  write("raw.bin", shortIds);
  expectRefused("raw.bin", "llmc", TSR_CORRUPT,
                "that begin with 20240520 or 20240801); use --data-format");
}

TEST_F(TokenFormat, NumpyArraysThatAreNoTokens) {
  const char *remedy = "save tokens.ravel().astype('<u4')";
  write("wide.npy", npyOf("<i8", "(40,)", longIds + longIds));
  expectRefused("wide.npy", nullptr, TSR_INVALID_ARGUMENT,
                "{'descr': '<i8', 'fortran_order': False, 'shape': (40,), }");
  EXPECT_CONTAINS(tsr_last_error(), remedy);
  write("big-endian.npy", npyOf(">u4", "(40,)", longIds));
  expectRefused("big-endian.npy", nullptr, TSR_INVALID_ARGUMENT, "'>u4'");
  write("matrix.npy", npyOf("<u2", "(4, 10)", shortIds));
  expectRefused("matrix.npy", nullptr, TSR_INVALID_ARGUMENT, "(4, 10)");
  write("negative.npy", npyOf("<u2", "(-1,)", shortIds));
  expectRefused("negative.npy", nullptr, TSR_INVALID_ARGUMENT, remedy);
  write("nonsense.npy", npy("\x1b[2J", shortIds));
  expectRefused("nonsense.npy", nullptr, TSR_INVALID_ARGUMENT, "?[2J;");
  write("torn.npy", npyOf("<u4", "(50,)", longIds));
  expectRefused(
      "torn.npy", nullptr, TSR_CORRUPT,
      "says it has 50 tokens of 4 bytes, after its header are 160 bytes");
  write("cut.npy", npyOf("<u4", "(40,)", "").substr(0, 60));
  expectRefused("cut.npy", nullptr, TSR_CORRUPT,
                "has 60 bytes and a NumPy header of 118");
  write("magic.npy", "\x93NUMPY");
  expectRefused("magic.npy", nullptr, TSR_CORRUPT, "has 6 bytes");
}

TEST_F(TokenFormat, FormatThatAHeaderContradicts) {
  const char *remedy = "would misread; use --data-format auto";
  write("a.bin", llmc({20240801, 7, 40}, longIds));
  expectRefused("a.bin", "uint32", TSR_INVALID_ARGUMENT, remedy);
  write("a.npy", npyOf("<u2", "(40,)", shortIds));
  expectRefused("a.npy", "uint16", TSR_INVALID_ARGUMENT, remedy);
}

//===----------------------------------------------------------------------===//
// Files of another kind
//===----------------------------------------------------------------------===//

TEST_F(TokenFormat, ForeignFilesAreNamed) {
  auto padded = [](std::string bytes) {
    bytes.resize(600, '\x01');
    return bytes;
  };
  const std::string gzip("\x1F\x8B\x08\0\x11\x22\x33\x44\0\x03", 10);
  const std::string bzip2 = "BZh91AY&SY", tar = std::string(257, 'n') + "ustar";
  const std::string arrow("\xFF\xFF\xFF\xFF\x10\x02\0\0", 8);
  struct {
    std::string magic;
    const char *what;
  } cases[] = {
      {gzip, "is compressed by gzip, not a file of tokens; decompress"},
      {"\x28\xB5\x2F\xFD", "is compressed by zstd"},
      {"\xFD\x37zXZ", "is compressed by xz"},
      {bzip2, "is compressed by bzip2"},
      {"PK\x03\x04", "is a zip archive"},
      {tar, "is a tar archive"},
      {"PAR1", "is a Parquet table"},
      {"ARROW1", "is an Arrow table"},
      {arrow, "is an Arrow stream"},
      {"\x89HDF\r\n\x1A\n", "is an HDF5 file"},
      {"%PDF-1.7", "is a PDF document"},
      {llmc({20240522, 1, 40}, ""), "is a test of llm.c"}};
  for (const auto &c : cases)
    for (const char *format : {"auto", "uint16", "uint32"})
      for (const char *name : {"a.bin", "a.txt"}) {
        write(name, padded(c.magic));
        expectRefused(name, format, TSR_INVALID_ARGUMENT, c.what);
      }
}

TEST_F(TokenFormat, JsonIsBytesOnlyIfThatIsAskedFor) {
  for (const char *name : {"a.jsonl", "a.json", "a.ndjson"}) {
    write(name, "{\"text\": \"To be, or not to be\"}\n");
    expectRefused(name, nullptr, TSR_INVALID_ARGUMENT,
                  "is JSON, not tokens; tokenize its texts, or use "
                  "--data-format text");
    EXPECT_EQ(open(name, "text", gpt2), TSR_OK) << tsr_last_error();
  }
}

TEST_F(TokenFormat, AnyBytesAreTextIfThatIsAskedFor) {
  for (const std::string &content :
       {npyOf("<u2", "(40,)", shortIds), "PK\x03\x04" + shortIds, longIds}) {
    write("a.bin", content);
    EXPECT_EQ(open("a.bin", "text", 256), TSR_OK) << tsr_last_error();
    EXPECT_EQ(tsr_data_tokens(data), static_cast<int64_t>(content.size()));
  }
}

TEST_F(TokenFormat, SizesThatAreNoTokens) {
  write("odd.bin", "abc");
  expectRefused("odd.bin", nullptr, TSR_CORRUPT,
                "has 3 bytes, not a multiple of the 2 bytes of a token");
  write("half.bin", longIds + "xy");
  expectRefused("half.bin", "uint32", TSR_CORRUPT,
                "has 162 bytes, not a multiple of the 4 bytes of a token",
                llama3);
  write("empty.bin", "");
  write("header.bin", llmc({20240801, 7, 0}, ""));
  for (const char *format : {"auto", "text", "uint16", "uint32"})
    expectRefused("empty.bin", format, TSR_INVALID_ARGUMENT,
                  "has 0 bytes and 0 tokens; leave it out");
  expectRefused("header.bin", nullptr, TSR_INVALID_ARGUMENT,
                "has 1024 bytes and 0 tokens");
}

//===----------------------------------------------------------------------===//
// Files that do not say what they are
//===----------------------------------------------------------------------===//

TEST_F(TokenFormat, Uint32IsNotReadAsUint16) {
  write("small.bin", bytesOf(idsFrom<uint32_t>(1000)));
  write("large.bin", longIds);
  write("torn.bin", longIds + "x");
  expectRefused("small.bin", nullptr, TSR_INVALID_ARGUMENT,
                "looks like uint32 (every second uint16 is 0) in its first "
                "160 bytes, not like uint16 below 50257; use --data-format "
                "uint32, or --data-format uint16 if it is that nevertheless");
  expectRefused("large.bin", "auto", TSR_INVALID_ARGUMENT,
                "looks like uint32 (every second uint16 is small)", llama3);
  expectRefused("torn.bin", "auto", TSR_INVALID_ARGUMENT, "looks like uint32",
                llama3);
}

TEST_F(TokenFormat, AFormatThatIsNamedIsObeyed) {
  std::vector<uint16_t> everySecond;
  for (uint16_t i = 0; i < 40; ++i)
    everySecond.insert(everySecond.end(), {static_cast<uint16_t>(i + 7), 0});
  std::vector<uint32_t> wide(everySecond.begin(), everySecond.end());
  struct {
    const char *format;
    std::string content;
  } cases[] = {{"uint16", bytesOf(everySecond)}, {"uint32", bytesOf(wide)}};
  for (const auto &c : cases) {
    SCOPED_TRACE(c.format);
    write("a.bin", c.content);
    ASSERT_EQ(open("a.bin", c.format, gpt2), TSR_OK) << tsr_last_error();
    EXPECT_EQ(tsr_data_tokens(data), 80);
    std::vector<int32_t> ids(5);
    ASSERT_EQ(tsr_data_batch(data, 0, 1, ids.data()), TSR_OK);
    EXPECT_EQ(ids,
              (std::vector<int32_t>{ids[0], 0, ids[0] + 1, 0, ids[0] + 2}));
  }
  write("a.bin", std::string(80, 'a'));
  EXPECT_EQ(open("a.bin", "uint16", gpt2), TSR_OK) << tsr_last_error();
  // Ids are checked nevertheless.
  everySecond[78] = 50257;
  write("a.bin", bytesOf(everySecond));
  EXPECT_EQ(open("a.bin", "uint16", gpt2), TSR_INVALID_ARGUMENT);
  EXPECT_CONTAINS(tsr_last_error(), "token 50257 at position 78 of");
}

TEST_F(TokenFormat, Int64IsNotReadAsNarrowerTokens) {
  write("a.bin", bytesOf(idsFrom<int64_t>(1000)));
  expectRefused("a.bin", "auto", TSR_INVALID_ARGUMENT,
                "looks like int64 (every second uint32 is 0)");
}

TEST_F(TokenFormat, TextIsNotReadAsTokens) {
  write("a.bin", std::string(40, 'a') + "\r\n\t" + std::string(41, 'z'));
  expectRefused("a.bin", "auto", TSR_INVALID_ARGUMENT,
                "looks like text in its first 84 bytes");
  expectRefused("a.bin", "uint32", TSR_INVALID_ARGUMENT,
                "the file looks like text; use --data-format text");
}

TEST_F(TokenFormat, TokensAreNotReadAsText) {
  write("tokens.dat", shortIds + bytesOf<uint16_t>({5}));
  expectRefused("tokens.dat", nullptr, TSR_INVALID_ARGUMENT,
                "is not text (byte 48 of 82 is 0) and not named .bin; use "
                "--data-format uint16, uint32 or text");
  EXPECT_EQ(open("tokens.dat", "uint16", gpt2), TSR_OK) << tsr_last_error();
}

TEST_F(TokenFormat, TokensOutsideOfTheVocabularySayWhy) {
  auto expectReason = [&](const std::string &content, const char *format,
                          const char *message) {
    write("a.bin", content);
    expectRefused("a.bin", format, TSR_INVALID_ARGUMENT, message);
  };
  expectReason(bytesOf(idsFrom<uint16_t>(51400)), "uint16",
               "is outside of the vocabulary of 50257; the data was made with "
               "another tokenizer");
  expectReason(shortIds, "uint32",
               "looks like uint16; use --data-format uint16");
  expectReason(swapped(idsFrom<uint16_t>(1000)), "uint16",
               "looks big-endian; write it little-endian");
  expectReason(swapped(idsFrom<uint32_t>(1000)), "uint32", "looks big-endian");
  expectReason(bytesOf(std::vector<int32_t>(40, -100)), "uint32",
               "token 4294967196 at position 0 of");
  EXPECT_CONTAINS(tsr_last_error(), "as int32 it is -100");
  expectReason(npyOf("<u2", "(40,)", bytesOf(idsFrom<uint16_t>(50250))),
               nullptr, "the data was made with another tokenizer");
}

} // namespace
