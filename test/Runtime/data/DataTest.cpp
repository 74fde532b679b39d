//===- DataTest.cpp - token streams ---------------------------------------===//
#include "test/Runtime/fixture/Fixture.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <set>

using namespace fixture;

namespace {

std::string tokenBytes(int begin, int end) {
  std::string bytes;
  for (int i = begin; i < end; ++i) {
    bytes.push_back(static_cast<char>(i & 255));
    bytes.push_back(static_cast<char>(i >> 8));
  }
  return bytes;
}

std::string llmcFile(int32_t version, int32_t tokens, const std::string &data) {
  int32_t header[256] = {20240520, version, tokens};
  return std::string(reinterpret_cast<char *>(header), sizeof header) + data;
}

class Stream {
public:
  ~Stream() { tsr_data_destroy(data); }
  tsr_status open(std::vector<std::string> names, tsr_data_options options) {
    std::vector<const char *> paths;
    for (const std::string &name : names)
      paths.push_back(name.c_str());
    options.size = sizeof options;
    return tsr_data_open(paths.data(), paths.size(), &options, &data);
  }
  std::vector<int32_t> batch(int64_t step, int64_t batch, int64_t sequence) {
    std::vector<int32_t> tokens(batch * (sequence + 1));
    EXPECT_EQ(tsr_data_batch(data, step, batch, tokens.data()), TSR_OK)
        << tsr_last_error();
    return tokens;
  }

  tsr_data *data = nullptr;
};

tsr_data_options options(int64_t sequence, int64_t vocabulary,
                         const char *format = nullptr, int64_t seed = 0) {
  return {0, format, sequence, vocabulary, seed};
}

/// Records of a source and its target share no token, and start at multiples of
/// their length.
TEST(Data, PairsAreRecords) {
  TemporaryDirectory directory;
  writeFile(directory / "a.bin", tokenBytes(0, 35)); // 5 records of 4 + 3
  Stream stream;
  tsr_data_options pairs = options(4, 2000);
  pairs.target = 3;
  ASSERT_EQ(stream.open({directory / "a.bin"}, pairs), TSR_OK)
      << tsr_last_error();
  std::vector<int32_t> tokens(5 * 7);
  ASSERT_EQ(tsr_data_batch(stream.data, 0, 5, tokens.data()), TSR_OK);
  std::set<int32_t> firsts;
  for (int32_t row = 0; row < 5; ++row) {
    firsts.insert(tokens[row * 7]);
    EXPECT_EQ(tokens[row * 7] % 7, 0);
    EXPECT_EQ(tokens[row * 7 + 6], tokens[row * 7] + 6);
  }
  EXPECT_EQ(firsts.size(), 5u);
}

TEST(Data, APairNeedsSourceAndTarget) {
  TemporaryDirectory directory;
  writeFile(directory / "a.bin", tokenBytes(0, 6));
  Stream stream;
  tsr_data_options pairs = options(4, 2000);
  pairs.target = 3;
  EXPECT_EQ(stream.open({directory / "a.bin"}, pairs), TSR_INVALID_ARGUMENT);
  EXPECT_NE(std::string(tsr_last_error()).find("one sequence needs 4 + 3"),
            std::string::npos);
}

TEST(Data, EachEpochVisitsEverySequenceOnce) {
  TemporaryDirectory directory;
  writeFile(directory / "a.bin", tokenBytes(0, 1003)); // 250 sequences of 4
  Stream stream;
  ASSERT_EQ(stream.open({directory / "a.bin"}, options(4, 2000)), TSR_OK)
      << tsr_last_error();
  EXPECT_EQ(tsr_data_tokens(stream.data), 1003);
  std::vector<std::vector<int32_t>> orders;
  for (int epoch = 0; epoch < 2; ++epoch) {
    std::vector<int32_t> order;
    for (int step = 0; step < 25; ++step) {
      std::vector<int32_t> tokens = stream.batch(epoch * 25 + step, 10, 4);
      for (int row = 0; row < 10; ++row) {
        for (int i = 0; i < 5; ++i)
          ASSERT_EQ(tokens[row * 5 + i], tokens[row * 5] + i);
        ASSERT_EQ(tokens[row * 5] % 4, 0);
        order.push_back(tokens[row * 5]);
      }
    }
    EXPECT_EQ(std::set<int32_t>(order.begin(), order.end()).size(), 250u);
    orders.push_back(order);
  }
  EXPECT_NE(orders[0], orders[1]);
  EXPECT_FALSE(std::is_sorted(orders[0].begin(), orders[0].end()));
}

TEST(Data, OrderIsAFunctionOfSeedAndStep) {
  TemporaryDirectory directory;
  writeFile(directory / "a.bin", tokenBytes(0, 401));
  Stream one, two, other;
  ASSERT_EQ(one.open({directory / "a.bin"}, options(4, 2000)), TSR_OK);
  ASSERT_EQ(two.open({directory / "a.bin"}, options(4, 2000)), TSR_OK);
  ASSERT_EQ(other.open({directory / "a.bin"}, options(4, 2000, nullptr, 5)),
            TSR_OK);
  one.batch(0, 8, 4);
  EXPECT_EQ(one.batch(17, 8, 4), two.batch(17, 8, 4));
  EXPECT_NE(one.batch(17, 8, 4), other.batch(17, 8, 4));
  // A batch of 8 is two batches of 4.
  std::vector<int32_t> whole = one.batch(3, 8, 4), half = one.batch(6, 4, 4);
  EXPECT_TRUE(std::equal(half.begin(), half.end(), whole.begin()));
}

TEST(Data, OneSequenceIsEnough) {
  TemporaryDirectory directory;
  writeFile(directory / "a.txt", "hello");
  Stream stream;
  ASSERT_EQ(stream.open({directory / "a.txt"}, options(4, 256)), TSR_OK);
  EXPECT_EQ(stream.batch(3, 1, 4),
            (std::vector<int32_t>{'h', 'e', 'l', 'l', 'o'}));
}

TEST(Data, FilesAreJoined) {
  TemporaryDirectory directory;
  writeFile(directory / "a.bin", tokenBytes(0, 3));
  writeFile(directory / "b.bin", llmcFile(1, 4, tokenBytes(3, 7)));
  Stream stream;
  ASSERT_EQ(
      stream.open({directory / "a.bin", directory / "b.bin"}, options(6, 256)),
      TSR_OK)
      << tsr_last_error();
  EXPECT_EQ(stream.batch(0, 1, 6), (std::vector<int32_t>{0, 1, 2, 3, 4, 5, 6}));
}

TEST(Data, ErrorsNameFileAndNumbers) {
  TemporaryDirectory directory;
  writeFile(directory / "short.txt", "abcd");
  struct {
    const char *name, *format;
    tsr_status status;
    const char *message;
  } cases[] = {
      {"absent.bin", nullptr, TSR_NOT_FOUND, "absent.bin"},
      {"short.txt", nullptr, TSR_INVALID_ARGUMENT, "has 4 tokens"},
      {"short.txt", "json", TSR_INVALID_ARGUMENT, "'json' is no data format"}};
  for (const auto &c : cases) {
    Stream stream;
    EXPECT_EQ(stream.open({directory / c.name}, options(4, 256, c.format)),
              c.status)
        << c.name;
    EXPECT_CONTAINS(tsr_last_error(), c.message);
    EXPECT_EQ(stream.data, nullptr);
  }
}

TEST(Data, AFileThatIsCutWhileItIsReadIsNamed) {
  TemporaryDirectory directory;
  std::string path = directory / "a.bin";
  writeFile(path, tokenBytes(0, 8001)); // several pages
  Stream stream;
  ASSERT_EQ(stream.open({path}, options(8000, 10000)), TSR_OK);
  stream.batch(0, 1, 8000);
  std::filesystem::resize_file(path, 1000);
  std::vector<int32_t> tokens(8001, -5);
  EXPECT_EQ(tsr_data_batch(stream.data, 0, 1, tokens.data()), TSR_IO);
  EXPECT_CONTAINS(tsr_last_error(), "a.bin' ends at byte 1000, it had 16002 "
                                    "bytes when it was opened");
  EXPECT_EQ(tokens[0], -5); // untouched
}

TEST(Data, AFailedBatchLeavesTheTokensAlone) {
  TemporaryDirectory directory;
  writeFile(directory / "a.bin", tokenBytes(0, 400));
  Stream stream;
  ASSERT_EQ(stream.open({directory / "a.bin"}, options(9, 400)), TSR_OK)
      << tsr_last_error();
  writeFile(directory / "a.bin", tokenBytes(400, 800)); // while it is read
  std::vector<int32_t> tokens(10, -5);
  EXPECT_EQ(tsr_data_batch(stream.data, 0, 1, tokens.data()),
            TSR_INVALID_ARGUMENT);
  EXPECT_CONTAINS(tsr_last_error(), "is outside of the vocabulary of 400");
  EXPECT_EQ(tokens[0], -5);
  EXPECT_EQ(tsr_data_batch(stream.data, -1, 1, tokens.data()),
            TSR_INVALID_ARGUMENT);
  EXPECT_EQ(tsr_data_batch(stream.data, 0, 0, tokens.data()),
            TSR_INVALID_ARGUMENT);
}

/// Makes a file of `count` tokens of a type, all 5 but those at `bad`.
template <class Integer>
std::string mostlyLegal(int64_t count, std::vector<int64_t> bad,
                        Integer value) {
  std::vector<Integer> tokens(count, 5);
  for (int64_t at : bad)
    tokens[at] = value;
  return std::string(reinterpret_cast<const char *>(tokens.data()),
                     tokens.size() * sizeof(Integer));
}

/// No step may meet an id that is none: the first one is named, wherever it is,
/// however many threads look for it.
TEST(Data, EveryTokenIsCheckedAtTheStart) {
  TemporaryDirectory directory;
  constexpr int64_t count = (13 << 20) + 77;
  auto refusal = [&](const std::string &bytes, const char *format) {
    writeFile(directory / "a.bin", bytes);
    Stream stream;
    EXPECT_EQ(stream.open({directory / "a.bin"}, options(8, 10, format)),
              TSR_INVALID_ARGUMENT);
    return std::string(tsr_last_error());
  };
  EXPECT_CONTAINS(
      refusal(mostlyLegal<uint16_t>(count, {9000001, 12000000}, 10), "uint16"),
      "token 10 at position 9000001 of '");
  EXPECT_CONTAINS(
      refusal(mostlyLegal<uint32_t>(count, {9000001, count - 1}, UINT32_MAX),
              "uint32"),
      "token 4294967295 at position 9000001 of '");
  EXPECT_CONTAINS(
      refusal(mostlyLegal<uint8_t>(count, {count - 70}, 200), "text"),
      "token 200 at position " + std::to_string(count - 70));
}

/// Megatron's types with a sign each have their own largest token.
TEST(Data, EveryTokenOfMegatronIsCheckedAtTheStart) {
  TemporaryDirectory directory;
  constexpr int64_t count = (5 << 20) + 3;
  auto refusal = [&](uint8_t type, int64_t width, const std::string &bytes,
                     int64_t vocabulary) {
    std::string index("MMIDIDX\0\0", 9);
    auto append = [&](auto value) {
      index.append(reinterpret_cast<const char *>(&value), sizeof value);
    };
    append(uint64_t(1));
    append(type);
    append(uint64_t(1));
    append(uint64_t(2));
    append(int32_t(count));
    append(int64_t(0));
    append(int64_t(0));
    append(int64_t(1));
    EXPECT_EQ(bytes.size(), size_t(count * width));
    writeFile(directory / "a.bin", bytes);
    writeFile(directory / "a.idx", index);
    Stream stream;
    return stream.open({directory / "a.bin"}, options(8, vocabulary)) == TSR_OK
               ? "none"
               : std::string(tsr_last_error());
  };
  std::vector<int64_t> at = {3000000};
  EXPECT_CONTAINS(refusal(2, 1, mostlyLegal<int8_t>(count, at, -3), 1000),
                  "token -3 at position 3000000");
  EXPECT_CONTAINS(refusal(3, 2, mostlyLegal<int16_t>(count, at, -1), 100000),
                  "token -1 at position 3000000");
  EXPECT_CONTAINS(refusal(4, 4, mostlyLegal<int32_t>(count, at, -1), 6),
                  "token -1 at position 3000000");
  EXPECT_CONTAINS(
      refusal(5, 8, mostlyLegal<int64_t>(count, at, int64_t(1) << 40), 6),
      "token 1099511627776 at position 3000000");
  EXPECT_EQ(refusal(5, 8, mostlyLegal<int64_t>(count, at, 3), 6), "none");
  EXPECT_EQ(refusal(8, 2, mostlyLegal<uint16_t>(count, at, 65535), 65536),
            "none");
}

} // namespace
