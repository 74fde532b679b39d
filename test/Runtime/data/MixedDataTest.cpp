//===- MixedDataTest.cpp - files with weights, and data held out ----------===//
#include "test/Runtime/fixture/Fixture.h"

#include <cmath>
#include <cstdlib>
#include <gtest/gtest.h>
#include <map>
#include <new>
#include <numeric>
#include <set>

using namespace fixture;

static int64_t allocations = 0;

// Sanitizers have operators of their own.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static constexpr bool countsAllocations = false;
#else
static constexpr bool countsAllocations = true;

// Counts what the library takes, too: it finds these operators.
void *operator new(size_t bytes, const std::nothrow_t &) noexcept {
  ++allocations;
  return std::malloc(bytes ? bytes : 1);
}
void *operator new(size_t bytes) {
  if (void *memory = operator new(bytes, std::nothrow))
    return memory;
  throw std::bad_alloc();
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }
#endif

namespace {

constexpr int64_t sequence = 4;

template <class Integer> std::string bytesFrom(int64_t first, int64_t count) {
  std::vector<Integer> values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), static_cast<Integer>(first));
  return {reinterpret_cast<const char *>(values.data()),
          values.size() * sizeof(Integer)};
}

/// Files whose tokens count on from a number of their own.
class MixedData : public testing::Test {
protected:
  ~MixedData() override { tsr_data_destroy(data); }

  void write(const std::string &name, int64_t first, int64_t count) {
    writeFile(directory / name, bytesFrom<uint16_t>(first, count));
    paths.push_back(directory / name);
  }

  /// Megatron's, with documents of these lengths.
  void writeDocuments(const std::string &name, int64_t first,
                      const std::vector<int32_t> &lengths) {
    std::vector<int64_t> begins, firsts;
    int64_t count = 0;
    for (int32_t length : lengths) {
      begins.push_back(2 * count);
      firsts.push_back(static_cast<int64_t>(firsts.size()));
      count += length;
    }
    firsts.push_back(static_cast<int64_t>(firsts.size()));
    auto bytes = [](const auto &values) {
      return std::string(reinterpret_cast<const char *>(values.data()),
                         values.size() * sizeof values[0]);
    };
    write(name + ".bin", first, count);
    std::vector<uint64_t> counts = {lengths.size(), firsts.size()};
    writeFile(directory / (name + ".idx"),
              std::string("MMIDIDX\0\0\1\0\0\0\0\0\0\0\x08", 18) +
                  bytes(counts) + bytes(lengths) + bytes(begins) +
                  bytes(firsts));
  }

  tsr_status open(double fraction = 0, const char *part = nullptr) {
    tsr_data_destroy(data);
    data = nullptr;
    std::vector<const char *> names;
    for (const std::string &path : paths)
      names.push_back(path.c_str());
    tsr_data_options options = {};
    options.size = sizeof options;
    options.sequence = sequence;
    options.vocabulary = 60000;
    options.weights = weights.empty() ? nullptr : weights.data();
    options.validation_fraction = fraction;
    options.part = part;
    return tsr_data_open(names.data(), names.size(), &options, &data);
  }

  std::vector<int32_t> batch(int64_t step, int64_t size) {
    std::vector<int32_t> tokens(static_cast<size_t>(size * (sequence + 1)));
    EXPECT_EQ(tsr_data_batch(data, step, size, tokens.data()), TSR_OK)
        << tsr_last_error();
    return tokens;
  }

  /// Returns the first token of each of so many sequences, which must count on.
  std::vector<int32_t> firsts(int64_t count) {
    std::vector<int32_t> tokens = batch(0, count), first;
    for (size_t row = 0; row < tokens.size(); row += sequence + 1) {
      first.push_back(tokens[row]);
      for (int32_t i = 0; i <= sequence; ++i)
        EXPECT_EQ(tokens[row + static_cast<size_t>(i)], tokens[row] + i);
    }
    return first;
  }

  void expectRefused(const std::string &message, double fraction = 0,
                     const char *part = nullptr) {
    EXPECT_EQ(open(fraction, part), TSR_INVALID_ARGUMENT) << message;
    EXPECT_EQ(data, nullptr);
    EXPECT_CONTAINS(tsr_last_error(), message);
  }

  struct File {
    int64_t first, tokens;
    double share;
  };
  File file(size_t number) const {
    File found = {};
    EXPECT_EQ(
        tsr_data_file(data, number, &found.first, &found.tokens, &found.share),
        TSR_OK);
    return found;
  }

  TemporaryDirectory directory;
  std::vector<std::string> paths;
  std::vector<double> weights;
  tsr_data *data = nullptr;
};

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

TEST_F(MixedData, FilesAreReadByTheirWeights) {
  write("a.bin", 0, 401);
  write("b.bin", 10000, 81);
  weights = {0.7, 0.3};
  ASSERT_EQ(open(), TSR_OK) << tsr_last_error();
  EXPECT_EQ(tsr_data_tokens(data), 482);
  EXPECT_EQ(tsr_data_sequences(data), 120);
  int64_t count = 0, ofSecond = 0;
  for (int32_t first : firsts(1000)) {
    ofSecond += first >= 10000;
    ++count;
    ASSERT_LT(std::abs(static_cast<double>(ofSecond) -
                       0.3 * static_cast<double>(count)),
              1);
  }
  EXPECT_EQ(ofSecond, 300);
  EXPECT_DOUBLE_EQ(file(0).share, 0.7);
  EXPECT_DOUBLE_EQ(file(1).share, 0.3);
}

/// Sequences of one file, in the order in which they are read.
std::vector<int32_t> between(const std::vector<int32_t> &firsts, int32_t low,
                             int32_t high) {
  std::vector<int32_t> own;
  for (int32_t first : firsts)
    if (first >= low && first < high)
      own.push_back(first - low);
  return own;
}

TEST_F(MixedData, EachFileHasEpochsAndAnOrderOfItsOwn) {
  write("a.bin", 0, 401); // 100 sequences each
  write("b.bin", 10000, 401);
  weights = {1, 1};
  ASSERT_EQ(open(), TSR_OK) << tsr_last_error();
  std::vector<int32_t> order = firsts(400);
  std::vector<int32_t> a = between(order, 0, 10000),
                       b = between(order, 10000, 20000);
  ASSERT_EQ(a.size(), 200u);
  for (const std::vector<int32_t> &own : {a, b})
    for (int epoch : {0, 100})
      EXPECT_EQ(
          std::set<int32_t>(own.begin() + epoch, own.begin() + epoch + 100)
              .size(),
          100u);
  EXPECT_NE(a, b);
  EXPECT_FALSE(std::equal(a.begin(), a.begin() + 100, a.begin() + 100));
}

TEST_F(MixedData, OrderIsAFunctionOfTheStep) {
  write("a.bin", 0, 401);
  write("b.bin", 10000, 77);
  weights = {2, 1};
  ASSERT_EQ(open(), TSR_OK) << tsr_last_error();
  std::vector<int32_t> whole = batch(3, 8), half = batch(6, 4);
  EXPECT_TRUE(std::equal(half.begin(), half.end(), whole.begin()));
  std::vector<int32_t> far = batch(1000000007, 8);
  ASSERT_EQ(open(), TSR_OK);
  EXPECT_EQ(batch(1000000007, 8), far); // not a walk from the first
  EXPECT_EQ(batch(3, 8), whole);
}

TEST_F(MixedData, OneWeightIsNone) {
  write("a.bin", 0, 401);
  ASSERT_EQ(open(), TSR_OK);
  std::vector<int32_t> plain = batch(0, 150);
  weights = {0.25};
  ASSERT_EQ(open(), TSR_OK);
  EXPECT_EQ(batch(0, 150), plain);
  EXPECT_EQ(file(0).share, 1);
}

TEST_F(MixedData, AFileOfWeightZeroIsNotRead) {
  write("a.bin", 0, 401);
  write("short.bin", 10000, 2);
  weights = {3, 0};
  ASSERT_EQ(open(), TSR_OK) << tsr_last_error();
  EXPECT_EQ(tsr_data_sequences(data), 100);
  for (int32_t first : firsts(50))
    EXPECT_LT(first, 10000);
}

TEST_F(MixedData, WeightsThatAreNone) {
  write("a.bin", 0, 401);
  write("b.bin", 10000, 401);
  weights = {0, 0};
  expectRefused("the weights of 2 files sum to 0, it must be a positive "
                "number; give at least one file a weight above 0");
  weights = {2, -0.5};
  expectRefused("b.bin' is -0.5, it must be a number that is not negative");
  weights = {NAN, 1};
  expectRefused("a.bin' is nan, it must be a number");
  weights = {1, INFINITY};
  expectRefused("b.bin' is inf, it must be a number");
  weights = {1.5e308, 1.5e308};
  expectRefused("the weights of 2 files sum to inf");
  weights = {1, 1e-6};
  expectRefused("b.bin' is 1e-06 of 1, less than the smallest share, 1 of "
                "65536; raise it, or leave the file out");
  paths[1] = paths[0];
  weights = {1, 3};
  expectRefused("a.bin' is given with weight 1 and with weight 3; give it "
                "once, with the sum of the two");
}

TEST_F(MixedData, EachWeightedFileHasASequence) {
  write("a.bin", 0, 401);
  write("b.bin", 10000, 4);
  weights = {1, 1};
  expectRefused("b.bin' has 4 tokens, one sequence needs 4 + 1; use more data "
                "or a shorter sequence");
  weights.clear(); // joined to one stream
  EXPECT_EQ(open(), TSR_OK) << tsr_last_error();
}

TEST_F(MixedData, AStepAllocatesNothing) {
  write("a.bin", 0, 401);
  write("b.bin", 10000, 401);
  weights = {0.7, 0.3};
  ASSERT_EQ(open(0.2), TSR_OK);
  std::vector<int32_t> tokens(8 * (sequence + 1));
  if (!countsAllocations)
    GTEST_SKIP() << "a sanitizer allocates";
  int64_t before = allocations;
  ASSERT_EQ(tsr_data_batch(data, 0, 8, tokens.data()), TSR_OK);
  EXPECT_GT(allocations, before); // the first does: they are counted
  before = allocations;
  for (int64_t step = 1; step < 1000; ++step)
    ASSERT_EQ(tsr_data_batch(data, step, 8, tokens.data()), TSR_OK);
  EXPECT_EQ(allocations, before);
}

//===----------------------------------------------------------------------===//
// A part that is held out
//===----------------------------------------------------------------------===//

TEST_F(MixedData, TheEndOfEachFileIsHeldOut) {
  write("a.bin", 0, 1000);
  write("b.bin", 10000, 101);
  ASSERT_EQ(open(0.1), TSR_OK) << tsr_last_error();
  EXPECT_EQ(tsr_data_tokens(data), 900 + 91);
  std::set<int32_t> trained;
  for (int64_t row = 0; row < tsr_data_sequences(data); ++row)
    for (int32_t token : batch(row, 1))
      trained.insert(token);
  EXPECT_EQ(*trained.rbegin(), 10088); // the rest, up to 10090, is no sequence
  EXPECT_EQ(file(1).tokens, 91);

  ASSERT_EQ(open(0.1, "validation"), TSR_OK) << tsr_last_error();
  EXPECT_EQ(tsr_data_tokens(data), 110);
  EXPECT_EQ(file(0).first, 900);
  EXPECT_EQ(file(1).first, 91);
  EXPECT_EQ(tsr_data_sequences(data), 27);
  std::set<int32_t> held;
  for (int64_t row = 0; row < tsr_data_sequences(data); ++row)
    for (int32_t token : batch(row, 1)) {
      EXPECT_EQ(trained.count(token), 0u) << token;
      held.insert(token);
    }
  EXPECT_EQ(*held.begin(), 900);
  EXPECT_EQ(held.size(), 109u);
}

TEST_F(MixedData, WeightsHoldForBothParts) {
  write("a.bin", 0, 1000);
  write("b.bin", 10000, 500);
  weights = {1, 3};
  for (const char *part : {"training", "validation"}) {
    ASSERT_EQ(open(0.2, part), TSR_OK) << tsr_last_error();
    std::vector<int32_t> order = firsts(400);
    EXPECT_EQ(between(order, 0, 10000).size(), 100u);
    bool isHeld = part == std::string("validation");
    for (int32_t first : between(order, 10000, 20000))
      EXPECT_EQ(first >= 400, isHeld);
  }
}

TEST_F(MixedData, NoFractionReadsEverything) {
  write("a.bin", 0, 401);
  ASSERT_EQ(open(0, "training"), TSR_OK);
  EXPECT_EQ(tsr_data_tokens(data), 401);
}

TEST_F(MixedData, DocumentsAreNotCut) {
  writeDocuments("a", 0, {30, 50, 15, 5});
  writeDocuments("b", 10000, {20, 20});
  // The cut of a would be at 90, nearest to 95, and of b at 36, nearest to 40.
  ASSERT_EQ(open(0.1), TSR_OK) << tsr_last_error();
  EXPECT_EQ(file(0).tokens, 95);
  EXPECT_EQ(file(1).tokens, 40);
  EXPECT_EQ(tsr_data_documents(data), 5);
  int64_t first = 0, tokens = 0;
  ASSERT_EQ(tsr_data_document(data, 3, &first, &tokens), TSR_OK);
  EXPECT_EQ(first, 95);
  EXPECT_EQ(tokens, 20);
  ASSERT_EQ(open(0.1, "validation"), TSR_OK) << tsr_last_error();
  EXPECT_EQ(tsr_data_documents(data), 1);
  ASSERT_EQ(tsr_data_document(data, 0, &first, &tokens), TSR_OK);
  EXPECT_EQ(first, 0);
  EXPECT_EQ(tokens, 5);
  EXPECT_EQ(batch(0, 1), (std::vector<int32_t>{95, 96, 97, 98, 99}));
  EXPECT_EQ(tsr_data_document(data, 1, &first, &tokens), TSR_INVALID_ARGUMENT);
  // Two begins are as near: the earlier one counts.
  paths.clear();
  writeDocuments("c", 0, {20, 20, 20, 40});
  ASSERT_EQ(open(0.5), TSR_OK);
  EXPECT_EQ(file(0).tokens, 40);
}

TEST_F(MixedData, PartsWithoutASequence) {
  write("a.bin", 0, 100);
  expectRefused("has 100 tokens, of which validation fraction 0.04 leaves 96 "
                "for training and holds out 4, one sequence needs 4 + 1; use "
                "more data, another fraction or a shorter sequence",
                0.04);
  expectRefused("leaves 4 for training and holds out 96", 0.96);
  expectRefused("leaves 4 for training and holds out 96", 0.96, "validation");
  EXPECT_EQ(open(0.05), TSR_OK) << tsr_last_error();
  write("b.bin", 10000, 60);
  weights = {1, 1};
  expectRefused("b.bin' has 60 tokens, of which validation fraction 0.05 "
                "leaves 57 for training and holds out 3",
                0.05);
  paths.clear();
  weights.clear();
  writeDocuments("c", 0, {95, 5});
  expectRefused("leaves 0 for training and holds out 100 (whole documents)",
                0.6);
}

TEST_F(MixedData, FractionsAndPartsThatAreNone) {
  write("a.bin", 0, 100);
  for (double fraction : {-0.1, 1.0, double(NAN), double(INFINITY)})
    expectRefused("it must be at least 0 and less than 1", fraction);
  expectRefused("the validation part is asked for, but the validation fraction "
                "is 0",
                0, "validation");
  expectRefused("'test' is no part of data; use \"training\" or "
                "\"validation\"",
                0.1, "test");
  ASSERT_EQ(open(0.1), TSR_OK);
  int64_t first = -5, tokens = -5;
  double share = -5;
  EXPECT_EQ(tsr_data_file(data, 1, &first, &tokens, &share),
            TSR_INVALID_ARGUMENT);
  EXPECT_CONTAINS(tsr_last_error(), "there is no file 1, there are 1");
  EXPECT_EQ(first, -5);
}

/// A caller who knows no weights.
TEST_F(MixedData, OptionsOfBeforeAreTaken) {
  write("a.bin", 0, 401);
  tsr_data_options options = {};
  options.size = offsetof(tsr_data_options, weights);
  options.sequence = sequence;
  options.vocabulary = 60000;
  double garbage = -1;
  options.weights = &garbage;
  options.validation_fraction = 7;
  const char *path = paths[0].c_str();
  ASSERT_EQ(tsr_data_open(&path, 1, &options, &data), TSR_OK)
      << tsr_last_error();
  EXPECT_EQ(tsr_data_tokens(data), 401);
}

} // namespace
