//===- TokenFormatTest.cpp - which files are tokens, and how wide ---------===//
#include "test/Runtime/fixture/Fixture.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>

using namespace fixture;

namespace {

template <class Integer>
std::string bytesOf(const std::vector<Integer> &values) {
  return {reinterpret_cast<const char *>(values.data()),
          values.size() * sizeof(Integer)};
}

template <class Integer> std::vector<Integer> idsFrom(Integer first) {
  std::vector<Integer> ids(40);
  std::iota(ids.begin(), ids.end(), first);
  return ids;
}

const std::string shortIds = bytesOf(idsFrom<uint16_t>(1000));
const std::string longIds = bytesOf(idsFrom<uint32_t>(100000));
constexpr int64_t gpt2 = 50257, llama3 = 128256;

template <class Integer> std::string swapped(std::vector<Integer> values) {
  for (Integer &value : values) {
    auto *bytes = reinterpret_cast<char *>(&value);
    std::reverse(bytes, bytes + sizeof value);
  }
  return bytesOf(values);
}

/// A directory, and what becomes of files in it.
class TokenFormat : public testing::Test {
protected:
  ~TokenFormat() override { tsr_data_destroy(data); }

  tsr_status open(const std::string &name, const char *format,
                  int64_t vocabulary) {
    tsr_data_destroy(data);
    data = nullptr;
    std::string path = directory / name;
    const char *paths[] = {path.c_str()};
    tsr_data_options options = {sizeof options, format, 4, vocabulary, 0, 0};
    return tsr_data_open(paths, 1, &options, &data);
  }

  void write(const std::string &name, const std::string &content) {
    writeFile(directory / name, content);
  }

  /// Reads the ids of a file that has one sequence of four and the one after.
  std::vector<int32_t> ids(const std::string &name, const std::string &content,
                           const char *format = nullptr,
                           int64_t vocabulary = llama3) {
    write(name, content);
    EXPECT_EQ(open(name, format, vocabulary), TSR_OK) << tsr_last_error();
    std::vector<int32_t> tokens(5);
    if (data) {
      EXPECT_EQ(tsr_data_tokens(data), 5);
      EXPECT_EQ(tsr_data_batch(data, 0, 1, tokens.data()), TSR_OK);
    }
    return tokens;
  }

  void expectRefused(const std::string &name, const char *format,
                     tsr_status status, const std::string &message,
                     int64_t vocabulary = gpt2) {
    SCOPED_TRACE(name);
    EXPECT_EQ(open(name, format, vocabulary), status);
    EXPECT_EQ(data, nullptr);
    EXPECT_CONTAINS(tsr_last_error(), "/" + name + "' ");
    EXPECT_CONTAINS(tsr_last_error(), message);
  }

  TemporaryDirectory directory;
  tsr_data *data = nullptr;
};

const std::vector<int32_t> five = {7, 128000, 65536, 0, 128255};
const std::vector<int32_t> fiveShort = {7, 50256, 256, 0, 1};

std::string inUint16() { return bytesOf<uint16_t>({7, 50256, 256, 0, 1}); }
std::string inUint32() { return bytesOf(five); }

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

/// Makes the bytes that Megatron-LM's IndexedDatasetBuilder writes; without
/// `firsts` each sequence is a document.
std::string megatronOf(char type, int64_t width, std::vector<int32_t> lengths,
                       std::vector<int64_t> firsts = {}) {
  std::vector<int64_t> begins;
  int64_t end = 0;
  for (int32_t length : lengths) {
    begins.push_back(end);
    end += length * width;
  }
  if (firsts.empty()) {
    firsts.resize(lengths.size() + 1);
    std::iota(firsts.begin(), firsts.end(), 0);
  }
  return std::string("MMIDIDX\0\0", 9) + bytesOf<uint64_t>({1}) + type +
         bytesOf<uint64_t>({lengths.size(), firsts.size()}) + bytesOf(lengths) +
         bytesOf(begins) + bytesOf(firsts);
}

std::string megatron(char type, int64_t width, int32_t first, int32_t second) {
  return megatronOf(type, width, {first, second});
}

TEST_F(TokenFormat, IndexOfMegatronSaysHowWide) {
  write("a.idx", megatron(4, 4, 3, 2));
  EXPECT_EQ(ids("a.bin", inUint32()), five);
  EXPECT_EQ(ids("a.bin", inUint32(), "uint32"), five);
  write("a.idx", megatron(8, 2, 1, 4));
  EXPECT_EQ(ids("a.bin", inUint16()), fiveShort);
  write("a.idx", megatron(1, 1, 4, 1));
  EXPECT_EQ(ids("a.bin", "bytes"),
            (std::vector<int32_t>{'b', 'y', 't', 'e', 's'}));
  write("a.idx", megatron(2, 1, 4, 1));
  EXPECT_EQ(ids("a.bin", "bytes"),
            (std::vector<int32_t>{'b', 'y', 't', 'e', 's'}));
  write("a.idx", megatron(3, 2, 1, 4));
  EXPECT_EQ(ids("a.bin", bytesOf<int16_t>({7, 32767, 256, 0, 1})),
            (std::vector<int32_t>{7, 32767, 256, 0, 1}));
  write("a.idx", megatron(5, 8, 1, 4));
  EXPECT_EQ(ids("a.bin", bytesOf<int64_t>({7, 128000, 65536, 0, 128255})),
            five);
  EXPECT_EQ(tsr_data_token_bytes(data), 8);
  write("a.idx", "another program's");
  EXPECT_EQ(ids("a.bin", inUint16()), fiveShort);
  EXPECT_EQ(tsr_data_documents(data), 0);
}

TEST_F(TokenFormat, IndexOfMegatronMayBeNamed) {
  write("a.bin", inUint32());
  EXPECT_EQ(ids("a.idx", megatron(4, 4, 3, 2)), five);
  EXPECT_EQ(ids("a.idx", megatron(4, 4, 3, 2), "uint32"), five);
  EXPECT_EQ(ids("a.idx", megatronOf(4, 4, {5})), five);
}

/// Pairs of where a document begins and how many tokens it has.
std::vector<std::pair<int64_t, int64_t>> documentsOf(const tsr_data *data) {
  std::vector<std::pair<int64_t, int64_t>> found;
  for (int64_t i = 0; i < tsr_data_documents(data); ++i) {
    int64_t first = -1, tokens = -1;
    EXPECT_EQ(tsr_data_document(data, i, &first, &tokens), TSR_OK)
        << tsr_last_error();
    found.push_back({first, tokens});
  }
  return found;
}

TEST_F(TokenFormat, DocumentsOfMegatronAreKnown) {
  using Documents = std::vector<std::pair<int64_t, int64_t>>;
  write("a.bin", inUint32());
  ids("a.idx", megatron(4, 4, 3, 2));
  EXPECT_EQ(documentsOf(data), (Documents{{0, 3}, {3, 2}}));
  // One of three sequences, of which one has no token, and one of one token.
  ids("a.idx", megatronOf(4, 4, {3, 0, 1, 1}, {0, 3, 4}));
  EXPECT_EQ(documentsOf(data), (Documents{{0, 4}, {4, 1}}));
  int64_t first = -5, tokens = -5;
  for (int64_t number : {-1, 2})
    EXPECT_EQ(tsr_data_document(data, number, &first, &tokens),
              TSR_INVALID_ARGUMENT);
  EXPECT_CONTAINS(tsr_last_error(), "no document 2, the files say that they "
                                    "have 2, counted from 0");
  EXPECT_EQ(first, -5);
}

/// Megatron writes them for texts without tokens: at the begin, between others
/// and at the end, without sequences or with empty ones.
TEST_F(TokenFormat, DocumentsOfMegatronMayBeEmpty) {
  using Documents = std::vector<std::pair<int64_t, int64_t>>;
  write("a.bin", inUint32());
  ids("a.idx", megatronOf(4, 4, {3, 2}, {0, 0, 1, 1, 2, 2, 2}));
  EXPECT_EQ(documentsOf(data),
            (Documents{{0, 0}, {0, 3}, {3, 0}, {3, 2}, {5, 0}, {5, 0}}));
  ids("a.idx", megatronOf(4, 4, {0, 3, 0, 2, 0}));
  EXPECT_EQ(documentsOf(data),
            (Documents{{0, 0}, {0, 3}, {3, 0}, {3, 2}, {5, 0}}));
}

/// A split takes whole documents, empty ones with what follows them.
TEST_F(TokenFormat, EmptyDocumentsMayBeHeldOut) {
  write("a.bin", inUint32());
  write("a.idx", megatronOf(4, 4, {3, 2}, {0, 0, 1, 1, 2, 2, 2}));
  std::string path = directory / "a.idx";
  const char *names[] = {path.c_str()};
  int64_t tokens = 0;
  for (const char *part : {"training", "validation"}) {
    tsr_data_options options = {sizeof options, nullptr, 1,   llama3, 0, 0,
                                nullptr,        0.4,     part};
    ASSERT_EQ(tsr_data_open(names, 1, &options, &data), TSR_OK)
        << tsr_last_error();
    for (auto [first, count] : documentsOf(data)) {
      EXPECT_GE(first, 0);
      tokens += count;
    }
    EXPECT_EQ(tsr_data_documents(data),
              part == std::string("training") ? 2 : 4);
    tsr_data_destroy(data);
    data = nullptr;
  }
  EXPECT_EQ(tokens, 5);
}

TEST_F(TokenFormat, DocumentsAreCountedOverFiles) {
  std::string paths[] = {directory / "a.bin", directory / "text.txt",
                         directory / "b.idx"};
  write("a.bin", inUint32());
  write("a.idx", megatron(4, 4, 3, 2));
  write("text.txt", "seven..");
  write("b.bin", inUint16());
  write("b.idx", megatronOf(8, 2, {5}));
  const char *names[] = {paths[0].c_str(), paths[1].c_str(), paths[2].c_str()};
  tsr_data_options options = {sizeof options, nullptr, 4, llama3, 0, 0};
  ASSERT_EQ(tsr_data_open(names, 3, &options, &data), TSR_OK)
      << tsr_last_error();
  EXPECT_EQ(tsr_data_tokens(data), 17);
  EXPECT_EQ(documentsOf(data), (std::vector<std::pair<int64_t, int64_t>>{
                                   {0, 3}, {3, 2}, {12, 5}}));
}

/// More sequences than are read at a time.
TEST_F(TokenFormat, DocumentsOfMegatronMayBeMany) {
  constexpr int64_t count = 5001;
  write("a.bin", bytesOf(std::vector<uint16_t>(count * 3, 1)));
  write("a.idx", megatronOf(8, 2, std::vector<int32_t>(count, 3)));
  ASSERT_EQ(open("a.idx", nullptr, gpt2), TSR_OK) << tsr_last_error();
  auto documents = documentsOf(data);
  ASSERT_EQ(documents.size(), size_t(count));
  for (int64_t i : {int64_t(0), int64_t(2047), int64_t(2048), count - 1})
    EXPECT_EQ(documents[i], std::make_pair(3 * i, int64_t(3)));
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

TEST_F(TokenFormat, IndexOfMegatronWithoutItsTokens) {
  write("a.idx", megatron(4, 4, 30, 10));
  expectRefused("a.idx", nullptr, TSR_NOT_FOUND,
                "is the index of Megatron data, but '" +
                    (directory / "a.bin' with its tokens is missing"));
  write("index.bin", megatron(4, 4, 30, 10));
  expectRefused("index.bin", nullptr, TSR_INVALID_ARGUMENT,
                "is the index of Megatron data, without tokens; name it .idx");
  EXPECT_EQ(open("a.idx", "text", 256), TSR_OK) << tsr_last_error();
}

TEST_F(TokenFormat, MegatronTokensAreNotTakenTwice) {
  write("a.bin", inUint32());
  write("a.idx", megatron(4, 4, 3, 2));
  std::string bin = directory / "a.bin", idx = directory / "a.idx";
  const char *names[] = {bin.c_str(), idx.c_str()};
  tsr_data_options options = {sizeof options, nullptr, 4, llama3, 0, 0};
  EXPECT_EQ(tsr_data_open(names, 2, &options, &data), TSR_INVALID_ARGUMENT);
  EXPECT_CONTAINS(tsr_last_error(), "a.idx' are given, but both mean");
}

TEST_F(TokenFormat, MegatronThatIsNotWhatItSays) {
  write("a.bin", longIds);
  auto expectIndex = [&](const std::string &index, tsr_status status,
                         const char *message) {
    write("a.idx", index);
    expectRefused("a.bin", nullptr, status, message);
  };
  std::string good = megatron(4, 4, 30, 10);
  write("a.idx", good);
  expectRefused("a.bin", "uint16", TSR_INVALID_ARGUMENT,
                "has tokens of 4 bytes, which format 'uint16' would misread");
  expectIndex(megatron(4, 4, 30, 11), TSR_CORRUPT,
              "has at least 164 bytes, it has 160 (of tokens of 4);");
}

template <class Integer>
std::string changed(std::string bytes, size_t at, Integer value) {
  return bytes.replace(at, sizeof value, bytesOf<Integer>({value}));
}

TEST_F(TokenFormat, IndexOfMegatronThatIsTorn) {
  write("a.bin", longIds);
  std::string good = megatron(4, 4, 30, 10);
  struct {
    std::string index;
    const char *message;
  } cases[] = {
      {megatron(0, 4, 30, 10), "of type 0, supported are 1 (uint8), 2"},
      {megatron(9, 4, 30, 10), "of type 9, supported are 1 (uint8), 2"},
      {megatron(6, 8, 15, 5), "of type 6 (float64), but tokens are integers"},
      {megatron(7, 4, 30, 10), "of type 7 (float32), but tokens are integers"},
      {"", "has 0 bytes and version 0"},
      {good.substr(0, 5), "has 5 bytes and version 0"},
      {good.substr(0, 20), "has 20 bytes and version 0"},
      {good.substr(0, 40), "says it has 2 sequences and 3 entries of "
                           "documents, its 40 bytes are not 34 + 12"},
      {good + "x", "its 83 bytes are not 34 + 12"},
      {good + "xx", "has 2 bytes after the first sequences of its documents: "
                    "modes of a multimodal data set"},
      {changed(good, 9, 2), "and version 2"},
      {changed(good, 18, int64_t(-1)),
       "says it has -1 sequences and 3 entries"},
      {changed(good, 26, INT64_MAX), "sequences and 9223372036854775807 entr"},
      {changed(good, 18, INT64_MIN), "says it has -9223372036854775808 seq"},
      {changed(good, 38, int32_t(-10)), "sequence 1 of 2 has -10 tokens"},
      {changed(good, 50, int64_t(124)), "sequence 1 of 2 begins at byte 124, "
                                        "the one before ends at 120"},
      {changed(good, 50, int64_t(-8)), "sequence 1 of 2 begins at byte -8"},
      {changed(good, 38, INT32_MAX), "has at least 8589934708 bytes, it has"},
      {megatron(4, 4, 29, 10), "has 156 bytes, it has 160 (of tokens of 4)"},
      {changed(good, 58, int64_t(1)), "document 0 of 2 begins with sequence 1, "
                                      "which is not between 0 and 0"},
      {changed(good, 66, int64_t(-3)), "document 1 of 2 begins with sequence "
                                       "-3, which is not between 0 and 2"},
      {changed(good, 74, int64_t(3)), "document 2 of 2 begins with sequence 3"},
      {megatronOf(4, 4, {30, 10}, {0, 1}), "documents have 1 sequences, it has "
                                           "2"},
      {changed(megatronOf(4, 4, {30, 10}, {0}).substr(0, 58), 26, int64_t(0)),
       "documents have 0 sequences, it has 2"}};
  for (const auto &c : cases) {
    write("a.idx", c.index);
    for (const char *name : {"a.bin", "a.idx"}) {
      EXPECT_NE(open(name, nullptr, llama3), TSR_OK) << c.message;
      EXPECT_CONTAINS(tsr_last_error(), "a.idx' ");
      EXPECT_CONTAINS(tsr_last_error(), c.message);
    }
  }
}

TEST_F(TokenFormat, MegatronTokensThatAreNoIds) {
  auto expectTokens = [&](char type, int64_t width, const std::string &tokens,
                          const char *message) {
    write("a.idx", megatron(type, width, 3, 2));
    write("a.bin", tokens);
    expectRefused("a.bin", nullptr, TSR_INVALID_ARGUMENT, message);
  };
  const char *negative = "no token is negative; leave such ids out";
  expectTokens(2, 1, bytesOf<int8_t>({1, 2, 3, -4, 5}),
               "token -4 at position 3");
  EXPECT_CONTAINS(tsr_last_error(), negative);
  expectTokens(3, 2, bytesOf<int16_t>({1, -2, 3, 4, 5}), negative);
  expectTokens(4, 4, bytesOf<int32_t>({-100, 2, 3, 4, 5}),
               "token -100 at posit");
  expectTokens(5, 8, bytesOf<int64_t>({1, 2, 3, 4, -1}),
               "token -1 at position 4");
  expectTokens(5, 8, bytesOf<int64_t>({1, 2, 3, 4, int64_t(1) << 32}),
               "token 4294967296 at position 4 of");
  EXPECT_CONTAINS(tsr_last_error(), "made with another tokenizer");
  expectTokens(8, 2, bytesOf<uint16_t>({1, 2, 50257, 4, 5}),
               "token 50257 at position 2 of");
  EXPECT_CONTAINS(tsr_last_error(), "vocabulary of 50257");
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
