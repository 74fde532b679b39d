//===- RingAttentionTest.cpp - Attention over slices of the keys ----------===//
// Computes the steps of a ring's ranks one after the other, on one thread: a
// rank has one slice of the queries and meets the slices of the keys from its
// own backwards; or it has an early and a late slice, and meets such pairs of
// keys. Together they must be attention of the whole.
//===----------------------------------------------------------------------===//

#include "runtime/cpu/CpuEntries.h"
#include "test/Runtime/cpu/AttentionCases.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace tessera;
using namespace tessera::test;

namespace {

/// Who computes what: one slice of the sequence for each of `ranks` ranks, or
/// two that together are as much work behind a causal mask.
struct Deal {
  int64_t ranks;
  bool isZigzag;

  int64_t slices() const { return isZigzag ? 2 * ranks : ranks; }
};

/// A call: slices of queries and keys. Where not masked, all are visible.
struct Step {
  int64_t queries, keys;
  bool masked;
};

/// Returns the calls of a rank, in order.
std::vector<Step> stepsOf(const Deal &deal, int64_t rank) {
  std::vector<Step> steps;
  const int64_t last = 2 * deal.ranks - 1;
  for (int64_t step = 0; step < deal.ranks; ++step) {
    const int64_t from = (rank + deal.ranks - step) % deal.ranks;
    if (deal.isZigzag) {
      steps.push_back({last - rank, last - from, true});
      steps.push_back({last - rank, from, false});
    }
    steps.push_back({rank, from, true});
  }
  return steps;
}

/// A problem of one sequence whose positions ranks share.
class Ring {
public:
  Ring(const AttentionCase &c, Deal deal)
      : x(c, 31), reference(x), deal(deal), length(c.seqQ / deal.slices()),
        sums(c.dtype == TSR_DTYPE_F64 ? TSR_DTYPE_F64 : TSR_DTYPE_F32) {}

  /// Computes forward; 0 stands for the tolerance of the type.
  void forward(double eps = 0);
  void backward();

private:
  std::vector<int64_t> argsOf(const Step &step) const;
  void compare(Buffer &found, int64_t at, const std::vector<double> &wanted,
               int64_t from, int64_t count, double eps = 0) const;
  int64_t rowQ() const { return x.c.qColumns(); }
  int64_t rowKV() const { return x.c.kvColumns(); }

  AttentionData x;
  AttentionReference reference;
  Deal deal;
  int64_t length, sums;
};

std::vector<int64_t> Ring::argsOf(const Step &step) const {
  std::vector<int64_t> args = x.args;
  args[TSR_ATTENTION_SEQ_Q] = args[TSR_ATTENTION_SEQ_K] = length;
  args[TSR_ATTENTION_QUERY_START] = step.queries * length;
  args[TSR_ATTENTION_QUERIES_TOTAL] = x.c.seqQ;
  args[TSR_ATTENTION_KEY_START] = step.keys * length;
  args[TSR_ATTENTION_KEYS_TOTAL] = x.c.seqK;
  args[TSR_ATTENTION_CAUSAL] = x.c.causal && (step.masked || x.c.window != 0);
  args[TSR_ATTENTION_ROW_O] = args[TSR_ATTENTION_ROW_DQ] = rowQ();
  args[TSR_ATTENTION_ROW_DK] = args[TSR_ATTENTION_ROW_DV] = rowKV();
  return args;
}

void Ring::compare(Buffer &found, int64_t at, const std::vector<double> &wanted,
                   int64_t from, int64_t count, double eps) const {
  if (eps == 0)
    eps = tolerance(x.c.dtype) * (sums != x.c.dtype ? 2 : 1);
  double worst = 0;
  for (int64_t i = 0; i < count; ++i) {
    const double got = found.get(at + i), want = wanted[size_t(from + i)];
    ASSERT_FALSE(std::isnan(got)) << x.c.name();
    worst = std::fmax(worst, std::fabs(got - want) / (1 + std::fabs(want)));
  }
  EXPECT_LT(worst, eps) << x.c.name() << " on " << deal.ranks << " ranks"
                        << (deal.isZigzag ? ", zigzag" : "");
}

void Ring::forward(double eps) {
  const Buffer o(sums, length * rowQ()), lse(sums, x.c.heads * length);
  std::vector<Buffer> outputs(size_t(deal.slices()), o),
      lses(outputs.size(), lse);
  std::vector<bool> begun(outputs.size(), false);
  for (int64_t rank = 0; rank < deal.ranks; ++rank)
    for (const Step &step : stepsOf(deal, rank)) {
      const auto slice = size_t(step.queries);
      std::vector<int64_t> args = argsOf(step);
      args[TSR_ATTENTION_EARLIER] = begun[slice];
      begun[slice] = true;
      void *buffers[] = {x.qBuffer.at(step.queries * length * x.c.rowQ()),
                         x.kBuffer.at(step.keys * length * x.c.rowKV()),
                         x.vBuffer.at(step.keys * length * x.c.rowKV()),
                         outputs[slice].data(),
                         lses[slice].data(),
                         x.c.querySegments.data(),
                         x.c.keySegments.data()};
      std::string error;
      ASSERT_EQ(cpuAttention(2, buffers, args.data(), &error), 0) << error;
    }
  for (int64_t slice = 0; slice < deal.slices(); ++slice) {
    compare(outputs[size_t(slice)], 0, reference.o, slice * length * rowQ(),
            length * rowQ(), eps);
    for (int64_t n = 0; n < x.c.heads; ++n)
      compare(lses[size_t(slice)], n * length, reference.lse,
              n * x.c.seqQ + slice * length, length, eps);
  }
}

/// Gradients of keys and values begin behind their own rank and end there.
void Ring::backward() {
  x.forward(1);
  Buffer dQ(sums, x.c.seqQ * rowQ()), dK(sums, x.c.seqK * rowKV()), dV = dK;
  std::vector<bool> begunQ(size_t(deal.slices()), false), begunK = begunQ;
  for (int64_t rank = 0; rank < deal.ranks; ++rank)
    for (const Step &step : stepsOf(deal, rank)) {
      Buffer lse(sums, x.c.heads * length);
      for (int64_t n = 0; n < x.c.heads; ++n)
        for (int64_t s = 0; s < length; ++s)
          lse.set(n * length + s,
                  x.lse.get(n * x.c.seqQ + step.queries * length + s));
      std::vector<int64_t> args = argsOf(step);
      args[TSR_ATTENTION_ROW_O] = x.args[TSR_ATTENTION_ROW_O];
      args[TSR_ATTENTION_EARLIER] = begunQ[size_t(step.queries)];
      args[TSR_ATTENTION_EARLIER_KEYS] = begunK[size_t(step.keys)];
      begunQ[size_t(step.queries)] = begunK[size_t(step.keys)] = true;
      void *buffers[] = {x.dO.at(step.queries * length * x.c.rowO()),
                         x.qBuffer.at(step.queries * length * x.c.rowQ()),
                         x.kBuffer.at(step.keys * length * x.c.rowKV()),
                         x.vBuffer.at(step.keys * length * x.c.rowKV()),
                         x.o.at(step.queries * length * x.c.rowO()),
                         lse.data(),
                         dQ.at(step.queries * length * rowQ()),
                         dK.at(step.keys * length * rowKV()),
                         dV.at(step.keys * length * rowKV()),
                         x.c.querySegments.data(),
                         x.c.keySegments.data()};
      std::string error;
      ASSERT_EQ(cpuAttentionBackward(2, buffers, args.data(), &error), 0)
          << error;
    }
  compare(dQ, 0, reference.dQ, 0, dQ.size());
  compare(dK, 0, reference.dK, 0, dK.size());
  compare(dV, 0, reference.dV, 0, dV.size());
}

/// Returns lengths of slices: whole blocks, less, a block and a bit. The calls
/// in a slice of several blocks do not depend on the type.
std::vector<int64_t> lengthsOf(int64_t dtype, const Deal &deal) {
  if (deal.slices() != 2)
    return {20, 64};
  if (dtype != TSR_DTYPE_F32)
    return {1, 20, 65};
  return {1, 20, 65, 130};
}

/// Returns cases with grouped heads.
std::vector<AttentionCase> casesOf(int64_t dtype, const Deal &deal) {
  std::vector<AttentionCase> cases;
  for (bool causal : {false, true})
    for (int64_t length : lengthsOf(dtype, deal))
      for (double dropout : {0.0, 0.25}) {
        if (deal.isZigzag && !causal)
          continue;
        AttentionCase c{1, 4, 2, 0, 0, 24, causal};
        c.seqQ = c.seqK = length * deal.slices();
        c.dropout = dropout;
        c.dtype = dtype;
        c.headStart = 2;
        c.headsTotal = 8;
        cases.push_back(c);
        // Windows within a slice, of one and a bit, of nearly all positions.
        for (int64_t window : {length / 2, length + 3, c.seqQ - 2})
          if (causal && window > 0) {
            cases.push_back(c);
            cases.back().window = window;
          }
        // Documents within a slice, over its border, of several; padding.
        if (dropout != 0)
          continue;
        cases.push_back(c);
        cases.back().querySegments = cases.back().keySegments =
            segmentsOf(c.seqQ, {length / 2, length, -(length / 3)});
      }
  return cases;
}

} // namespace

TEST(RingAttention, SlicesMakeTheWholeOnEveryTarget) {
  TargetScope restore;
  for (int64_t dtype : {TSR_DTYPE_F32, TSR_DTYPE_BF16, TSR_DTYPE_F64})
    for (Deal deal : {Deal{2, false}, {3, false}, {2, true}, {3, true}})
      for (const AttentionCase &c : casesOf(dtype, deal)) {
        Ring ring(c, deal);
        for (CpuTarget target : cpuTargets()) {
          setCpuTarget(target);
          SCOPED_TRACE(cpuKernels().name);
          ring.forward();
          ring.backward();
        }
      }
}

/// Slices whose log-sum-exps lie far apart: an exponential of their difference
/// would overflow (https://github.com/jzhang38/EasyContext/issues/14).
TEST(RingAttention, LargeScoresDoNotOverflow) {
  for (int64_t dtype : {TSR_DTYPE_F32, TSR_DTYPE_BF16, TSR_DTYPE_F64})
    for (bool causal : {false, true}) {
      AttentionCase c{1, 2, 2, 96, 96, 16, causal};
      c.dtype = dtype;
      c.scale = 60;
      Ring(c, {3, false}).forward(/*eps=*/dtype == TSR_DTYPE_F64 ? 1e-10 : 0.1);
    }
}

/// A slice behind all queries changes no bit; for gradients it adds nothing.
TEST(RingAttention, HiddenSlicesCostNothing) {
  AttentionData x(AttentionCase{1, 2, 2, 64, 64, 16, true}, 3);
  x.forward(1);
  const Buffer o = x.o, lse = x.lse;
  std::vector<int64_t> args = x.args;
  args[TSR_ATTENTION_KEY_START] = 64;
  args[TSR_ATTENTION_KEYS_TOTAL] = 128;
  args[TSR_ATTENTION_EARLIER] = 1;
  std::string error;
  // Nothing of the keys is read.
  void *forward[] = {x.qBuffer.data(), nullptr, nullptr, x.o.data(),
                     x.lse.data()};
  EXPECT_EQ(cpuAttention(1, forward, args.data(), &error), 0) << error;
  EXPECT_TRUE(x.o == o && x.lse == lse);
  x.dQ.fill(3);
  void *backward[] = {x.dO.data(), x.qBuffer.data(), nullptr,
                      nullptr,     x.o.data(),       x.lse.data(),
                      x.dQ.data(), x.dK.data(),      x.dV.data()};
  EXPECT_EQ(cpuAttentionBackward(1, backward, args.data(), &error), 0) << error;
  EXPECT_EQ(x.dQ.get(0), 3);
  EXPECT_EQ(x.dK.get(0), 0);
}

/// Nor does a slice that the window of no query reaches.
TEST(RingAttention, SlicesBeforeTheWindowCostNothing) {
  AttentionCase c{1, 2, 2, 64, 64, 16, true};
  c.queryStart = 128;
  c.queriesTotal = 192;
  c.window = 65; // query 128 sees keys 64 to 128
  AttentionData x(c, 3);
  std::vector<int64_t> args = x.args;
  args[TSR_ATTENTION_KEYS_TOTAL] = 192;
  args[TSR_ATTENTION_EARLIER] = 1;
  void *buffers[] = {x.qBuffer.data(), nullptr, nullptr, x.o.data(),
                     x.lse.data()};
  std::string error;
  const Buffer o = x.o;
  EXPECT_EQ(cpuAttention(1, buffers, args.data(), &error), 0) << error;
  EXPECT_TRUE(x.o == o);
}

TEST(RingAttention, RefusesWhatIsNoSlice) {
  AttentionData x(AttentionCase{1, 2, 2, 8, 8, 8, true}, 1);
  void *buffers[9] = {};
  std::string error;
  x.args[TSR_ATTENTION_KEY_START] = 10;
  x.args[TSR_ATTENTION_KEYS_TOTAL] = 16;
  EXPECT_NE(cpuAttention(1, buffers, x.args.data(), &error), 0);
  EXPECT_EQ(error, "attention: keys 10 to 18 are no slice of 16");
  x.args[TSR_ATTENTION_KEY_START] = 8;
  EXPECT_NE(cpuAttention(1, buffers, x.args.data(), &error), 0);
  EXPECT_EQ(error, "attention: query 0 sees no key of the first slice, which "
                   "starts at 8");
}
