//===- MegatronIndexTest.cpp - tokens and documents of Megatron data ------===//
#include "test/Runtime/data/TokenFiles.h"

using namespace fixture;

namespace {

class MegatronIndex : public TokenFiles {};

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

TEST_F(MegatronIndex, SaysHowWide) {
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

TEST_F(MegatronIndex, MayBeNamed) {
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

TEST_F(MegatronIndex, DocumentsAreKnown) {
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
TEST_F(MegatronIndex, DocumentsMayBeEmpty) {
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
TEST_F(MegatronIndex, EmptyDocumentsMayBeHeldOut) {
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

TEST_F(MegatronIndex, DocumentsAreCountedOverFiles) {
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
TEST_F(MegatronIndex, DocumentsMayBeMany) {
  constexpr int64_t count = 5001;
  write("a.bin", bytesOf(std::vector<uint16_t>(count * 3, 1)));
  write("a.idx", megatronOf(8, 2, std::vector<int32_t>(count, 3)));
  ASSERT_EQ(open("a.idx", nullptr, gpt2), TSR_OK) << tsr_last_error();
  auto documents = documentsOf(data);
  ASSERT_EQ(documents.size(), size_t(count));
  for (int64_t i : {int64_t(0), int64_t(2047), int64_t(2048), count - 1})
    EXPECT_EQ(documents[i], std::make_pair(3 * i, int64_t(3)));
}

TEST_F(MegatronIndex, WithoutItsTokens) {
  write("a.idx", megatron(4, 4, 30, 10));
  expectRefused("a.idx", nullptr, TSR_NOT_FOUND,
                "is the index of Megatron data, but '" +
                    (directory / "a.bin' with its tokens is missing"));
  write("index.bin", megatron(4, 4, 30, 10));
  expectRefused("index.bin", nullptr, TSR_INVALID_ARGUMENT,
                "is the index of Megatron data, without tokens; name it .idx");
  EXPECT_EQ(open("a.idx", "text", 256), TSR_OK) << tsr_last_error();
}

TEST_F(MegatronIndex, TokensAreNotTakenTwice) {
  write("a.bin", inUint32());
  write("a.idx", megatron(4, 4, 3, 2));
  std::string bin = directory / "a.bin", idx = directory / "a.idx";
  const char *names[] = {bin.c_str(), idx.c_str()};
  tsr_data_options options = {sizeof options, nullptr, 4, llama3, 0, 0};
  EXPECT_EQ(tsr_data_open(names, 2, &options, &data), TSR_INVALID_ARGUMENT);
  EXPECT_CONTAINS(tsr_last_error(), "a.idx' are given, but both mean");
}

TEST_F(MegatronIndex, ThatIsNotWhatItSays) {
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

TEST_F(MegatronIndex, ThatIsTorn) {
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

TEST_F(MegatronIndex, TokensThatAreNoIds) {
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

} // namespace
