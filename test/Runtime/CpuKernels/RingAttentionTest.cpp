//===- RingAttentionTest.cpp - Attention over slices of the keys ----------===//
// What the ranks of a ring compute one after the other, on one thread: a rank
// has one slice of the queries and meets the slices of the keys from its own
// backwards. Together they must be attention of the whole.
//===----------------------------------------------------------------------===//

#include "AttentionCases.h"
#include "CpuEntries.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace tessera;
using namespace tessera::test;

namespace {

/// A problem of one sequence whose positions `ranks` ranks share.
class Ring {
public:
  Ring(const AttentionCase &c, int64_t ranks)
      : x(c, 31), reference(x), ranks(ranks), length(c.seqQ / ranks),
        sums(c.dtype == TSR_DTYPE_F64 ? TSR_DTYPE_F64 : TSR_DTYPE_F32) {}

  /// 0: the tolerance of the type.
  void forward(double eps = 0);
  void backward();

private:
  std::vector<int64_t> argsOf(int64_t rank, int64_t slice) const;
  void compare(Buffer &found, int64_t at, const std::vector<double> &wanted,
               int64_t from, int64_t count, double eps = 0) const;
  int64_t rowQ() const { return x.c.qColumns(); }
  int64_t rowKV() const { return x.c.kvColumns(); }

  AttentionData x;
  AttentionReference reference;
  int64_t ranks, length, sums;
};

std::vector<int64_t> Ring::argsOf(int64_t rank, int64_t slice) const {
  std::vector<int64_t> args = x.args;
  args[TSR_ATTENTION_SEQ_Q] = args[TSR_ATTENTION_SEQ_K] = length;
  args[TSR_ATTENTION_QUERY_START] = rank * length;
  args[TSR_ATTENTION_QUERIES_TOTAL] = x.c.seqQ;
  args[TSR_ATTENTION_KEY_START] = slice * length;
  args[TSR_ATTENTION_KEYS_TOTAL] = x.c.seqK;
  args[TSR_ATTENTION_EARLIER] = slice != rank;
  args[TSR_ATTENTION_ROW_DQ] = rowQ();
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
  EXPECT_LT(worst, eps) << x.c.name() << " on " << ranks << " ranks";
}

void Ring::forward(double eps) {
  for (int64_t rank = 0; rank < ranks; ++rank) {
    Buffer o(sums, length * rowQ()), lse(sums, x.c.heads * length);
    for (int64_t step = 0; step < ranks; ++step) {
      const int64_t slice = (rank + ranks - step) % ranks;
      std::vector<int64_t> args = argsOf(rank, slice);
      args[TSR_ATTENTION_ROW_O] = rowQ();
      void *buffers[] = {x.qBuffer.at(rank * length * x.c.rowQ()),
                         x.kBuffer.at(slice * length * x.c.rowKV()),
                         x.vBuffer.at(slice * length * x.c.rowKV()), o.data(),
                         lse.data()};
      std::string error;
      ASSERT_EQ(cpuAttention(2, buffers, args.data(), &error), 0) << error;
    }
    compare(o, 0, reference.o, rank * length * rowQ(), length * rowQ(), eps);
    for (int64_t n = 0; n < x.c.heads; ++n)
      compare(lse, n * length, reference.lse, n * x.c.seqQ + rank * length,
              length, eps);
  }
}

/// Gradients of keys and values begin behind their own rank and end there.
void Ring::backward() {
  x.forward(1);
  Buffer dK(sums, x.c.seqK * rowKV()), dV = dK;
  std::vector<bool> begun(size_t(ranks), false);
  for (int64_t rank = 0; rank < ranks; ++rank) {
    Buffer dQ(sums, length * rowQ()), lse(sums, x.c.heads * length);
    for (int64_t n = 0; n < x.c.heads; ++n)
      for (int64_t s = 0; s < length; ++s)
        lse.set(n * length + s, x.lse.get(n * x.c.seqQ + rank * length + s));
    for (int64_t step = 0; step < ranks; ++step) {
      const int64_t slice = (rank + ranks - step) % ranks;
      std::vector<int64_t> args = argsOf(rank, slice);
      args[TSR_ATTENTION_EARLIER_KEYS] = begun[size_t(slice)];
      begun[size_t(slice)] = true;
      void *buffers[] = {x.dO.at(rank * length * x.c.rowO()),
                         x.qBuffer.at(rank * length * x.c.rowQ()),
                         x.kBuffer.at(slice * length * x.c.rowKV()),
                         x.vBuffer.at(slice * length * x.c.rowKV()),
                         x.o.at(rank * length * x.c.rowO()),
                         lse.data(),
                         dQ.data(),
                         dK.at(slice * length * rowKV()),
                         dV.at(slice * length * rowKV())};
      std::string error;
      ASSERT_EQ(cpuAttentionBackward(2, buffers, args.data(), &error), 0)
          << error;
    }
    compare(dQ, 0, reference.dQ, rank * length * rowQ(), length * rowQ());
  }
  compare(dK, 0, reference.dK, 0, dK.size());
  compare(dV, 0, reference.dV, 0, dV.size());
}

/// Slices of whole blocks, of less, of a block and a bit; grouped heads.
std::vector<AttentionCase> casesOf(int64_t dtype, int64_t ranks) {
  std::vector<AttentionCase> cases;
  for (bool causal : {false, true})
    for (int64_t length : ranks == 2 ? std::vector<int64_t>{1, 20, 65, 130}
                                     : std::vector<int64_t>{20, 64})
      for (double dropout : {0.0, 0.25}) {
        AttentionCase c{1, 4, 2, length * ranks, length * ranks, 24, causal};
        c.dropout = dropout;
        c.dtype = dtype;
        c.headStart = 2;
        c.headsTotal = 8;
        cases.push_back(c);
      }
  return cases;
}

} // namespace

TEST(RingAttention, SlicesMakeTheWholeOnEveryTarget) {
  TargetScope restore;
  for (int64_t dtype : {TSR_DTYPE_F32, TSR_DTYPE_BF16, TSR_DTYPE_F64})
    for (int64_t ranks : {2, 3})
      for (const AttentionCase &c : casesOf(dtype, ranks)) {
        Ring ring(c, ranks);
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
      Ring(c, 3).forward(/*eps=*/dtype == TSR_DTYPE_F64 ? 1e-10 : 0.1);
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
