//===- RoutedTest.cpp - Work on the rows of experts -----------------------===//
// Against naive sums over all rows that are routed. The others hold NaN: they
// are not read, and are zero in results.

#include "runtime/cpu/CpuEntries.h"
#include "test/Runtime/cpu/TestBuffer.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace tessera;
using namespace tessera::test;

namespace {
constexpr int64_t kTokens = 37, kExperts = 5, kColumns = 19, kInner = 12;

struct Types {
  int64_t in, out;
  int64_t gates() const {
    return in == TSR_DTYPE_F64 ? TSR_DTYPE_F64 : TSR_DTYPE_F32;
  }
};
const Types kTypes[] = {{TSR_DTYPE_F32, TSR_DTYPE_F32},
                        {TSR_DTYPE_BF16, TSR_DTYPE_F32},
                        {TSR_DTYPE_F64, TSR_DTYPE_F64}};

/// Small integers, so that sums are exact. The last expert gets no token.
Buffer makeGates(Types types) {
  Buffer gates(types.gates(), kTokens * kExperts);
  for (int64_t t = 0; t < kTokens; ++t)
    for (int64_t x = 0; x < kExperts; ++x)
      gates.set(t * kExperts + x,
                x + 1 < kExperts && (t + 2 * x) % 3 == 0 ? double(x + 1) : 0);
  return gates;
}

double gateOf(const Buffer &gates, int64_t x, int64_t t) {
  return gates.get(t * kExperts + x);
}

/// Returns the rows [experts, tokens, columns].
Buffer makeRows(int64_t dtype, const Buffer &gates, int64_t columns, int seed) {
  Buffer rows(dtype, kExperts * kTokens * columns);
  rows.fillIntegers(seed, 5);
  for (int64_t row = 0; row < kExperts * kTokens; ++row)
    for (int64_t c = 0; c < columns; ++c)
      if (gateOf(gates, row / kTokens, row % kTokens) == 0)
        rows.set(row * columns + c, std::numeric_limits<double>::quiet_NaN());
  return rows;
}

struct Call {
  int64_t kind, columns, inner;
  bool weighted, transposed;
  int64_t rows = 0; ///< compact ones; 0: one for every expert and token
  int64_t round = 0;
  bool int8 = false;
};

int32_t tryToRun(const Call &call, Types types,
                 const std::vector<Buffer *> &operands, std::string *error) {
  std::vector<void *> buffers;
  for (Buffer *operand : operands)
    buffers.push_back(operand->data());
  int64_t args[TSR_ROUTED_ARGS] = {};
  args[TSR_ROUTED_KIND] = call.kind;
  args[TSR_ROUTED_TOKENS] = kTokens;
  args[TSR_ROUTED_EXPERTS] = kExperts;
  args[TSR_ROUTED_COLUMNS] = call.columns;
  args[TSR_ROUTED_INNER] = call.inner;
  args[TSR_ROUTED_K] = 2;
  args[TSR_ROUTED_WEIGHTED] = call.weighted;
  args[TSR_ROUTED_TRANSPOSED] = call.transposed;
  args[TSR_ROUTED_DTYPE_IN] = types.in;
  args[TSR_ROUTED_DTYPE_OUT] = types.out;
  args[TSR_ROUTED_ROWS] = call.rows;
  args[TSR_ROUTED_ROUND] = call.round;
  args[TSR_ROUTED_INT8] = call.int8;
  return cpuRouted(2, buffers.data(), args, error);
}

void run(const Call &call, Types types, const std::vector<Buffer *> &operands) {
  std::string error;
  ASSERT_EQ(tryToRun(call, types, operands, &error), 0) << error;
}

/// More than the gates route.
constexpr int64_t kRoom = kTokens * kExperts / 2;

/// Returns the rows that are routed, in order of experts and then of tokens,
/// then those that `rest` fills.
Buffer compact(const Buffer &rows, const Buffer &gates, int64_t dtype,
               double rest) {
  const int64_t columns = rows.size() / (kExperts * kTokens);
  Buffer made(dtype, kRoom * columns);
  made.fill(rest);
  int64_t at = 0;
  for (int64_t row = 0; row < kExperts * kTokens; ++row)
    for (int64_t c = 0;
         c < columns && gateOf(gates, row / kTokens, row % kTokens) != 0; ++c)
      made.set(at++, rows.get(row * columns + c));
  EXPECT_LT(at, made.size());
  return made;
}
} // namespace

TEST(Routed, GatesAreTheSoftmaxOverTheLargest) {
  const Types types = {TSR_DTYPE_F64, TSR_DTYPE_F64};
  Buffer logits(types.in, kTokens * kExperts), gates(types.in, logits.size());
  logits.fillIntegers(3, 3); // with many ties: the first of equals is chosen
  run({TSR_ROUTED_TOP_K, 0, 0, false, false}, types, {&logits, &gates});
  for (int64_t t = 0; t < kTokens; ++t) {
    double sum = 0;
    int routed = 0;
    for (int64_t x = 0; x < kExperts; ++x) {
      const double l = logits.get(t * kExperts + x);
      int before = 0;
      for (int64_t y = 0; y < kExperts; ++y) {
        const double other = logits.get(t * kExperts + y);
        before += other > l || (other == l && y < x);
      }
      EXPECT_EQ(gateOf(gates, x, t) != 0, before < 2) << t << " " << x;
      sum += gateOf(gates, x, t);
      routed += gateOf(gates, x, t) != 0;
    }
    EXPECT_EQ(routed, 2);
    EXPECT_NEAR(sum, 1, 1e-15);
  }
}

TEST(Routed, DispatchCopiesRoutedTokens) {
  for (const Types types : kTypes)
    for (bool weighted : {false, true}) {
      Buffer gates = makeGates(types), tokens(types.in, kTokens * kColumns);
      tokens.fillIntegers(5, 5);
      Buffer rows(types.in, kExperts * kTokens * kColumns);
      run({TSR_ROUTED_DISPATCH, kColumns, 0, weighted, false},
          {types.in, types.in}, {&tokens, &gates, &rows});
      for (int64_t i = 0; i < rows.size(); ++i) {
        const int64_t row = i / kColumns, t = row % kTokens;
        const double g = gateOf(gates, row / kTokens, t);
        const double factor = weighted ? g : g != 0;
        ASSERT_EQ(rows.get(i),
                  factor * tokens.get(t * kColumns + i % kColumns));
      }
    }
}

/// Checks rows of so many columns.
void checkCollect(int64_t columns) {
  for (const Types types : kTypes)
    for (bool weighted : {false, true}) {
      Buffer gates = makeGates(types);
      Buffer rows = makeRows(types.in, gates, columns, 7);
      Buffer tokens(types.out, kTokens * columns);
      run({TSR_ROUTED_COLLECT, columns, 0, weighted, false}, types,
          {&rows, &gates, &tokens});
      for (int64_t i = 0; i < tokens.size(); ++i) {
        const int64_t t = i / columns;
        double want = 0;
        for (int64_t x = 0; x < kExperts; ++x)
          if (const double g = gateOf(gates, x, t); g != 0)
            want += (weighted ? g : 1) *
                    rows.get((x * kTokens + t) * columns + i % columns);
        ASSERT_EQ(tokens.get(i), want);
      }
    }
}

TEST(Routed, CollectAddsRoutedRows) { checkCollect(kColumns); }

/// More than it adds at once, and not a multiple.
TEST(Routed, CollectAddsLongRows) { checkCollect(600); }

TEST(Routed, GradientOfGatesIsOfRoutedRows) {
  for (const Types types : kTypes) {
    Buffer gates = makeGates(types);
    Buffer rows = makeRows(types.in, gates, kColumns, 7);
    Buffer grad(types.in, kTokens * kColumns),
        found(types.gates(), gates.size());
    grad.fillIntegers(9, 5);
    run({TSR_ROUTED_COLLECT_GRAD_GATES, kColumns, 0, false, false},
        {types.in, types.gates()}, {&grad, &rows, &gates, &found});
    for (int64_t t = 0; t < kTokens; ++t)
      for (int64_t x = 0; x < kExperts; ++x) {
        double want = 0;
        for (int64_t c = 0; gateOf(gates, x, t) != 0 && c < kColumns; ++c)
          want += grad.get(t * kColumns + c) *
                  rows.get((x * kTokens + t) * kColumns + c);
        ASSERT_EQ(gateOf(found, x, t), want);
      }
  }
}

TEST(Routed, ProductsAreOfRoutedRows) {
  for (const Types types : kTypes)
    for (bool transposed : {false, true}) {
      Buffer gates = makeGates(types);
      Buffer rows = makeRows(types.in, gates, kInner, 7);
      Buffer weight(types.in, kExperts * kColumns * kInner);
      weight.fillIntegers(11, 5);
      Buffer found(types.out, kExperts * kTokens * kColumns);
      run({TSR_ROUTED_PRODUCT, kColumns, kInner, false, transposed}, types,
          {&rows, &weight, &gates, &found});
      for (int64_t i = 0; i < found.size(); ++i) {
        const int64_t row = i / kColumns, x = row / kTokens, n = i % kColumns;
        double want = 0;
        for (int64_t k = 0; gateOf(gates, x, row % kTokens) != 0 && k < kInner;
             ++k)
          want += rows.get(row * kInner + k) *
                  weight.get(x * kColumns * kInner +
                             (transposed ? k * kColumns + n : n * kInner + k));
        ASSERT_EQ(found.get(i), want) << i;
      }
    }
}

/// Sums of integers are multiplied by the scale of their expert and column, and
/// rounded once.
TEST(Routed, ProductsOfIntegersAreScaled) {
  const Types rounded = {TSR_DTYPE_BF16, TSR_DTYPE_BF16};
  for (const Types types : {kTypes[0], kTypes[1], kTypes[2], rounded})
    for (bool transposed : {false, true}) {
      Buffer gates = makeGates(types);
      Buffer rows = makeRows(types.in, gates, kInner, 7);
      Buffer weight(TSR_DTYPE_I8, kExperts * kColumns * kInner);
      weight.fillIntegers(11, 127);
      Buffer scales(types.gates(), kExperts * kColumns);
      scales.fillNormal(12);
      for (int64_t i = 0; i < scales.size(); ++i)
        scales.set(i, std::fabs(scales.get(i)));
      Buffer found(types.out, kExperts * kTokens * kColumns), few(types.out, 0);
      Call call{TSR_ROUTED_PRODUCT, kColumns, kInner, false, transposed};
      call.int8 = true;
      run(call, types, {&rows, &weight, &scales, &gates, &found});
      Buffer want(types.out, found.size());
      for (int64_t i = 0; i < found.size(); ++i) {
        const int64_t row = i / kColumns, x = row / kTokens, n = i % kColumns;
        double sum = 0; // an integer
        for (int64_t k = 0; gateOf(gates, x, row % kTokens) != 0 && k < kInner;
             ++k)
          sum += rows.get(row * kInner + k) *
                 weight.get(x * kColumns * kInner +
                            (transposed ? k * kColumns + n : n * kInner + k));
        want.set(i, sum * scales.get(x * kColumns + n));
      }
      EXPECT_EQ(found, want) << types.in << " " << types.out;
      few = Buffer(types.out, kRoom * kColumns);
      call.rows = kRoom;
      Buffer compactRows = compact(rows, gates, types.in, 0);
      run(call, types, {&compactRows, &weight, &scales, &gates, &few});
      EXPECT_EQ(few, compact(want, gates, types.out, 0));
    }
}

TEST(Routed, GradientOfWeightsIsOfRoutedRows) {
  for (const Types types : kTypes) {
    Buffer gates = makeGates(types);
    Buffer grad = makeRows(types.in, gates, kColumns, 7);
    Buffer rows = makeRows(types.in, gates, kInner, 8);
    Buffer found(types.out, kExperts * kColumns * kInner);
    run({TSR_ROUTED_PRODUCT_GRAD_WEIGHT, kColumns, kInner, false, false}, types,
        {&grad, &rows, &gates, &found});
    for (int64_t i = 0; i < found.size(); ++i) {
      const int64_t x = i / (kColumns * kInner), n = i / kInner % kColumns;
      double want = 0;
      for (int64_t t = 0; t < kTokens; ++t)
        if (gateOf(gates, x, t) != 0)
          want += grad.get((x * kTokens + t) * kColumns + n) *
                  rows.get((x * kTokens + t) * kInner + i % kInner);
      ASSERT_EQ(found.get(i), want) << i;
    }
  }
}

/// Among NaN the first are chosen too: never more than k, for which there is
/// room.
TEST(Routed, NotMoreThanTheLargestAreChosenOfNaN) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Types types = {TSR_DTYPE_F64, TSR_DTYPE_F64};
  Buffer logits(types.in, kTokens * kExperts), gates(types.in, logits.size());
  logits.fill(nan);
  for (int64_t x = 0; x < kExperts; ++x) // one logit of the first token is NaN
    logits.set(x, x == 3 ? nan : double(-x));
  run({TSR_ROUTED_TOP_K, 0, 0, false, false}, types, {&logits, &gates});
  for (int64_t t = 0; t < kTokens; ++t)
    for (int64_t x = 0; x < kExperts; ++x)
      EXPECT_EQ(gateOf(gates, x, t) != 0, t == 0 ? x == 0 || x == 3 : x < 2)
          << t << " " << x;
}

/// Each kind on compact rows makes what it makes of all, to the bit.
TEST(Routed, CompactRowsMakeTheSame) {
  for (const Types types : kTypes) {
    Buffer gates = makeGates(types), tokens(types.in, kTokens * kColumns);
    tokens.fillIntegers(5, 5);
    Buffer all(types.in, kExperts * kTokens * kColumns),
        few(types.in, kRoom * kColumns);
    run({TSR_ROUTED_DISPATCH, kColumns, 0, true, false}, {types.in, types.in},
        {&tokens, &gates, &all});
    run({TSR_ROUTED_DISPATCH, kColumns, 0, true, false, kRoom},
        {types.in, types.in}, {&tokens, &gates, &few});
    EXPECT_EQ(few, compact(all, gates, types.in, 0));
    Buffer expanded(types.in, all.size());
    run({TSR_ROUTED_EXPAND, kColumns, 0, false, false, kRoom},
        {types.in, types.in}, {&few, &gates, &expanded});
    EXPECT_EQ(expanded, all);
    for (bool weighted : {false, true}) {
      Buffer sums(types.out, kTokens * kColumns), same = sums;
      run({TSR_ROUTED_COLLECT, kColumns, 0, weighted, false}, types,
          {&all, &gates, &sums});
      run({TSR_ROUTED_COLLECT, kColumns, 0, weighted, false, kRoom}, types,
          {&few, &gates, &same});
      EXPECT_EQ(same, sums);
    }
    Buffer found(types.gates(), gates.size()), same = found;
    run({TSR_ROUTED_COLLECT_GRAD_GATES, kColumns, 0, false, false},
        {types.in, types.gates()}, {&tokens, &all, &gates, &found});
    run({TSR_ROUTED_COLLECT_GRAD_GATES, kColumns, 0, false, false, kRoom},
        {types.in, types.gates()}, {&tokens, &few, &gates, &same});
    EXPECT_EQ(same, found);
  }
}

/// The unused rest of operands is NaN: nobody reads it.
TEST(Routed, ProductsOfCompactRowsAreTheSame) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Types types : kTypes) {
    Buffer gates = makeGates(types);
    Buffer rows = makeRows(types.in, gates, kInner, 7);
    Buffer grad = makeRows(types.in, gates, kColumns, 8);
    Buffer few = compact(rows, gates, types.in, nan);
    Buffer fewGrad = compact(grad, gates, types.in, nan);
    Buffer weight(types.in, kExperts * kColumns * kInner);
    weight.fillIntegers(11, 5);
    for (bool transposed : {false, true}) {
      Buffer all(types.out, kExperts * kTokens * kColumns),
          found(types.out, kRoom * kColumns);
      run({TSR_ROUTED_PRODUCT, kColumns, kInner, false, transposed}, types,
          {&rows, &weight, &gates, &all});
      run({TSR_ROUTED_PRODUCT, kColumns, kInner, false, transposed, kRoom},
          types, {&few, &weight, &gates, &found});
      EXPECT_EQ(found, compact(all, gates, types.out, 0));
    }
    Buffer wanted(types.out, weight.size()), found = wanted;
    run({TSR_ROUTED_PRODUCT_GRAD_WEIGHT, kColumns, kInner, false, false}, types,
        {&grad, &rows, &gates, &wanted});
    run({TSR_ROUTED_PRODUCT_GRAD_WEIGHT, kColumns, kInner, false, false, kRoom},
        types, {&fewGrad, &few, &gates, &found});
    EXPECT_EQ(found, wanted);
  }
}

/// Returns the rows of a round among compact ones, then NaN.
Buffer roundOf(const Buffer &compact, int64_t dtype, int64_t rows,
               int64_t round) {
  const int64_t columns = compact.size() / kRoom;
  Buffer made(dtype, rows * columns);
  made.fill(std::numeric_limits<double>::quiet_NaN());
  for (int64_t row = 0; row < rows && (round - 1) * rows + row < 50; ++row)
    for (int64_t c = 0; c < columns; ++c)
      made.set(row * columns + c,
               compact.get(((round - 1) * rows + row) * columns + c));
  return made;
}

/// 50 rows are 4 rounds of 16, the last of two rows; a fifth is empty.
TEST(Routed, RoundsMakeTheSame) {
  constexpr int64_t kRows = 16;
  for (const Types types : kTypes) {
    Buffer gates = makeGates(types), rounds(types.gates(), gates.size());
    run({TSR_ROUTED_ROUNDS, 0, 0, false, false, kRows},
        {types.gates(), types.gates()}, {&gates, &rounds});
    int64_t routed = 0;
    for (int64_t x = 0; x < kExperts; ++x)
      for (int64_t t = 0; t < kTokens; ++t)
        ASSERT_EQ(gateOf(rounds, x, t),
                  gateOf(gates, x, t) == 0 ? 0 : 1 + routed++ / kRows);
    ASSERT_EQ(routed, 50);
    Buffer few = compact(makeRows(types.in, gates, kInner, 7), gates, types.in,
                         std::numeric_limits<double>::quiet_NaN());
    Buffer fewGrad =
        compact(makeRows(types.in, gates, kColumns, 8), gates, types.in, 0);
    Buffer weight(types.in, kExperts * kColumns * kInner);
    weight.fillIntegers(11, 5);
    Buffer made(types.out, kRoom * kColumns), sum(types.out, weight.size());
    run({TSR_ROUTED_PRODUCT, kColumns, kInner, false, false, kRoom}, types,
        {&few, &weight, &gates, &made});
    run({TSR_ROUTED_PRODUCT_GRAD_WEIGHT, kColumns, kInner, false, false, kRoom},
        types, {&fewGrad, &few, &gates, &sum});
    Buffer whole(types.in, kExperts * kTokens * kInner), expanded = whole;
    run({TSR_ROUTED_EXPAND, kInner, 0, false, false, kRoom},
        {types.in, types.in}, {&few, &gates, &whole});
    Buffer same(types.out, sum.size());
    for (int64_t round = 1; round <= 5; ++round) {
      Buffer rows = roundOf(few, types.in, kRows, round);
      Buffer grad = roundOf(fewGrad, types.in, kRows, round);
      Buffer product(types.out, kRows * kColumns);
      run({TSR_ROUTED_PRODUCT, kColumns, kInner, false, false, kRows, round},
          types, {&rows, &weight, &rounds, &product});
      for (int64_t i = 0; i < product.size(); ++i) {
        const int64_t at = (round - 1) * product.size() + i;
        ASSERT_EQ(product.get(i), at < 50 * kColumns ? made.get(at) : 0);
      }
      run({TSR_ROUTED_PRODUCT_GRAD_WEIGHT, kColumns, kInner, false, false,
           kRows, round},
          types, {&grad, &rows, &rounds, &same});
      run({TSR_ROUTED_EXPAND, kInner, 0, false, false, kRows, round},
          {types.in, types.in}, {&rows, &rounds, &expanded});
    }
    EXPECT_EQ(same, sum);
    EXPECT_EQ(expanded, whole);
  }
}

/// Messages on a side of 2 ranks: 4 tokens or 2 + 2, 4 experts or 2. A row is
/// one number: 10 times its expert, and its token.
struct Messages {
  Buffer gates{TSR_DTYPE_F32, 0}, rows{TSR_DTYPE_F32, 0};
  std::vector<int64_t> args = std::vector<int64_t>(TSR_ROUTED_ARGS);

  Messages(int64_t kind, bool own, const std::vector<double> &numbers) {
    const int64_t experts = own ? 4 : 2;
    gates = Buffer(TSR_DTYPE_F32, int64_t(numbers.size()));
    for (size_t i = 0; i < numbers.size(); ++i)
      gates.set(int64_t(i), numbers[i]);
    args[TSR_ROUTED_KIND] = kind;
    args[TSR_ROUTED_TOKENS] = int64_t(numbers.size()) / experts;
    args[TSR_ROUTED_EXPERTS] = experts;
    args[TSR_ROUTED_COLUMNS] = 1;
    args[TSR_ROUTED_K] = 2;
    args[TSR_ROUTED_MEMBERS] = 2;
    args[TSR_ROUTED_OWN] = own;
  }
  /// Returns the result, of `count`; -1: not written.
  std::vector<double> run(const std::vector<double> &from, int64_t count,
                          std::string *error) {
    Buffer source(TSR_DTYPE_F32, int64_t(from.size()));
    for (size_t i = 0; i < from.size(); ++i)
      source.set(int64_t(i), from[i]);
    Buffer result(TSR_DTYPE_F32, count);
    result.fill(-1);
    void *buffers[] = {source.data(), gates.data(), result.data()};
    cpuRouted(1, buffers, args.data(), error);
    std::vector<double> values;
    for (int64_t i = 0; i < count; ++i)
      values.push_back(result.get(i));
    return values;
  }
};

const std::vector<double> kOwnGates = {1, 0, 1, 0, //
                                       1, 1, 0, 0, //
                                       0, 1, 0, 1, //
                                       0, 0, 1, 1};
const std::vector<double> kOwnRows = {0, 1, 11, 12, 20, 23, 32, 33, 99};

/// Rank 0's 4 rows go before rank 1's; messages of 3 leave one of each behind.
TEST(Routed, OwnRowsLieInMessagesByExperts) {
  std::string error;
  Messages call(TSR_ROUTED_PACK, true, kOwnGates);
  call.args[TSR_ROUTED_ROWS] = 9;
  call.args[TSR_ROUTED_MESSAGE] = 3;
  EXPECT_EQ(call.run(kOwnRows, 6, &error),
            (std::vector<double>{0, 1, 11, 20, 23, 32}));
  call.args[TSR_ROUTED_SENT] = 3;
  EXPECT_EQ(call.run(kOwnRows, 6, &error),
            (std::vector<double>{12, -1, -1, 33, -1, -1}));
  call.args[TSR_ROUTED_KIND] = TSR_ROUTED_UNPACK;
  EXPECT_EQ(call.run({12, 5, 5, 33, 5, 5}, 9, &error),
            (std::vector<double>{-1, -1, -1, 12, -1, -1, -1, 33, -1}));
  call.args[TSR_ROUTED_SENT] = 0;
  EXPECT_EQ(call.run({0, 1, 11, 20, 23, 32}, 9, &error),
            (std::vector<double>{0, 1, 11, -1, 20, 23, 32, -1, 0}));
  EXPECT_EQ(error, "");
}

/// 2 tokens of each rank, 2 experts: an expert's rows are one rank's, then the
/// other's; a rank's are of one expert, then of the other.
TEST(Routed, RowsOfExpertsLieInMessagesByTokens) {
  std::string error;
  Messages call(TSR_ROUTED_UNPACK, false, {1, 1, 0, 2, 1, 0, 1, 1});
  call.args[TSR_ROUTED_ROWS] = 6;
  call.args[TSR_ROUTED_MESSAGE] = 3;
  call.args[TSR_ROUTED_ROUND] = 1;
  EXPECT_EQ(call.run({0, 10, 7, 2, 3, 13}, 6, &error),
            (std::vector<double>{0, 2, 3, 10, 13, 0}));
  call.args[TSR_ROUTED_KIND] = TSR_ROUTED_PACK;
  EXPECT_EQ(call.run({0, 2, 3, 10, 13, 7}, 6, &error),
            (std::vector<double>{0, 10, -1, 2, 3, 13}));
  call.args[TSR_ROUTED_ROUND] = 2;
  EXPECT_EQ(call.run({11, 7, 7, 7, 7, 7}, 6, &error),
            (std::vector<double>{11, -1, -1, -1, -1, -1}));
  EXPECT_EQ(error, "");
}

/// The first of each rank is of round 1, the next of round 2.
TEST(Routed, RoundsOfMembersAreNumberedApart) {
  std::string error;
  Messages call(TSR_ROUTED_ROUNDS, false, {1, 1, 0, 1, 1, 0, 1, 1});
  call.args[TSR_ROUTED_ROWS] = 2;
  Buffer made(TSR_DTYPE_F32, 8);
  void *buffers[] = {call.gates.data(), made.data()};
  ASSERT_EQ(cpuRouted(1, buffers, call.args.data(), &error), 0) << error;
  const double wanted[] = {1, 1, 0, 2, 1, 0, 1, 2};
  for (int64_t i = 0; i < 8; ++i)
    EXPECT_EQ(made.get(i), wanted[i]) << i;
}

TEST(Routed, RefusesMoreRowsThanMessagesHave) {
  std::string error;
  Messages own(TSR_ROUTED_PACK, true, kOwnGates);
  own.args[TSR_ROUTED_ROWS] = 9;
  own.args[TSR_ROUTED_MESSAGE] = 3;
  own.args[TSR_ROUTED_TOKENS] = 2; // the first two of its tokens have 3 rows
  own.args[TSR_ROUTED_K] = 1;
  EXPECT_EQ(own.run(kOwnRows, 6, &error), std::vector<double>(6, -1));
  EXPECT_EQ(error, "routed: gates route 3 rows to a member, but its experts "
                   "have at most 2");
  Messages others(TSR_ROUTED_PACK, false, {1, 1, 0, 2, 1, 0, 1, 1});
  others.args[TSR_ROUTED_ROWS] = 6;
  others.args[TSR_ROUTED_MESSAGE] = 2;
  others.args[TSR_ROUTED_ROUND] = 1;
  EXPECT_EQ(others.run({0, 2, 3, 10, 13, 7}, 4, &error),
            std::vector<double>(4, -1));
  EXPECT_EQ(error, "routed: gates route 3 rows of a member's tokens, but its "
                   "message has 2");
}

TEST(Routed, RefusesMoreRowsThanThereIsRoom) {
  const Types types = {TSR_DTYPE_F32, TSR_DTYPE_F32};
  Buffer gates = makeGates(types), tokens(types.in, kTokens * kColumns);
  Buffer rows(types.in, kRoom * kColumns), untouched = rows;
  tokens.fillIntegers(5, 5);
  std::string error;
  EXPECT_NE(tryToRun({TSR_ROUTED_DISPATCH, kColumns, 0, false, false, 49},
                     types, {&tokens, &gates, &rows}, &error),
            0);
  EXPECT_EQ(error, "routed: gates route 50 rows of 37 tokens, but the buffer "
                   "has 49");
  EXPECT_EQ(rows, untouched);
}

TEST(Routed, RefusesWhatItCannotDo) {
  int64_t args[TSR_ROUTED_ARGS] = {};
  void *buffers[4] = {};
  std::string error;
  args[TSR_ROUTED_KIND] = 10;
  EXPECT_NE(cpuRouted(1, buffers, args, &error), 0);
  EXPECT_EQ(error, "routed: unknown kind 10");
  args[TSR_ROUTED_KIND] = TSR_ROUTED_PACK;
  args[TSR_ROUTED_TOKENS] = 7;
  args[TSR_ROUTED_MEMBERS] = 2;
  EXPECT_NE(cpuRouted(1, buffers, args, &error), 0);
  EXPECT_EQ(error, "routed: 7 cannot be cut into 2 parts");
  args[TSR_ROUTED_MEMBERS] = 1;
  args[TSR_ROUTED_ROWS] = 5;
  args[TSR_ROUTED_SENT] = 3;
  EXPECT_NE(cpuRouted(1, buffers, args, &error), 0);
  EXPECT_EQ(error, "routed: messages of a rank's experts have rounds, not rows "
                   "that were sent before");
  args[TSR_ROUTED_ROWS] = args[TSR_ROUTED_SENT] = 0;
  args[TSR_ROUTED_MEMBERS] = args[TSR_ROUTED_TOKENS] = 0;
  args[TSR_ROUTED_KIND] = TSR_ROUTED_ROUNDS;
  EXPECT_NE(cpuRouted(1, buffers, args, &error), 0);
  EXPECT_EQ(error, "routed: rounds of 0 rows");
  args[TSR_ROUTED_KIND] = TSR_ROUTED_PRODUCT_GRAD_WEIGHT;
  args[TSR_ROUTED_INT8] = 1;
  EXPECT_NE(cpuRouted(1, buffers, args, &error), 0);
  EXPECT_EQ(error, "routed: kind 5 has no integers; only products (4) have");
  args[TSR_ROUTED_INT8] = 0;
  args[TSR_ROUTED_KIND] = TSR_ROUTED_TOP_K;
  args[TSR_ROUTED_DTYPE_IN] = TSR_DTYPE_F64;
  EXPECT_NE(cpuRouted(1, buffers, args, &error), 0);
  EXPECT_EQ(error, "routed: dtypes 2 -> 0 are not supported; both are f32 (0) "
                   "or bf16 (1), or both f64 (2)");
  args[TSR_ROUTED_DTYPE_IN] = TSR_DTYPE_F32;
  args[TSR_ROUTED_EXPERTS] = 3;
  args[TSR_ROUTED_K] = 4;
  EXPECT_NE(cpuRouted(1, buffers, args, &error), 0);
  EXPECT_EQ(error, "routed: 4 of 3 experts");
  args[TSR_ROUTED_TOKENS] = -1;
  EXPECT_NE(cpuRouted(1, buffers, args, &error), 0);
  EXPECT_EQ(error, "routed: negative size -1");
}
