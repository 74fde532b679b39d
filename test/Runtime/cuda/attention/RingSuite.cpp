//===- RingSuite.cpp - Attention over slices of the keys ------------------===//
// Computes the steps of a ring's ranks one after the other, like
// RingAttentionTest of the CPU: a rank has one slice of the queries and meets
// the slices of the keys from its own backwards; or it has an early and a late
// slice, and meets such pairs. Together they must be attention of the whole.
//===----------------------------------------------------------------------===//

#include "test/Runtime/cuda/attention/AttentionSuite.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace tessera;
using namespace tessera::test;

namespace {

struct RingCase {
  AttentionCase attention; /* one sequence */
  int64_t ranks;
  bool isZigzag, isAligned;

  int64_t slices() const { return isZigzag ? 2 * ranks : ranks; }
};

/// A call: slices of queries and keys. Where not masked, all are visible.
struct Step {
  int64_t queries, keys;
  bool masked;
};

std::vector<Step> stepsOf(const RingCase &c) {
  std::vector<Step> steps;
  const int64_t last = 2 * c.ranks - 1;
  for (int64_t rank = 0; rank < c.ranks; ++rank)
    for (int64_t step = 0; step < c.ranks; ++step) {
      const int64_t from = (rank + c.ranks - step) % c.ranks;
      if (c.isZigzag) {
        steps.push_back({last - rank, last - from, true});
        steps.push_back({last - rank, from, false});
      }
      steps.push_back({rank, from, true});
    }
  return steps;
}

/// Rows of a tensor, with a gap behind each.
struct Rows {
  Buffer buffer;
  int64_t row = 0;

  Rows(int64_t dtype, int64_t rows, int64_t columns, int64_t gap)
      : buffer(dtype, rows * (columns + gap)), row(columns + gap) {}
  Tensor from(int64_t position) { return {&buffer, position * row}; }
};

class Ring {
public:
  explicit Ring(const RingCase &c)
      : ring(c), c(c.attention), x(c.attention, 31), reference(x),
        length(this->c.seqQ / c.slices()), q(inputs(this->c.heads)),
        k(inputs(this->c.kvHeads)), v(k), dO(q), finalO(q),
        o(sums(this->c.heads)), dQ(o), dK(sums(this->c.kvHeads)), dV(dK),
        lse(size_t(c.slices()), Buffer(TSR_DTYPE_F32, this->c.heads * length)) {
    x.forward(1);
    each(q, c.attention.heads, [&](auto... i) { return x.q(0, i...); });
    each(k, c.attention.kvHeads, [&](auto... i) { return x.k(0, i...); });
    each(v, c.attention.kvHeads, [&](auto... i) { return x.v(0, i...); });
    const auto row = [&](const Buffer &from) {
      return [&](int64_t s, int64_t n, int64_t d) {
        return from.get(s * this->c.rowO() + n * this->c.headDim + d);
      };
    };
    each(dO, c.attention.heads, row(x.dO));
    each(finalO, c.attention.heads, row(x.o));
  }

  void forward(Backend &on) {
    std::vector<bool> begun(lse.size(), false);
    for (const Step &step : stepsOf(ring)) {
      AttentionOperands operands = operandsOf(step);
      operands.call.earlier = begun[size_t(step.queries)];
      begun[size_t(step.queries)] = true;
      on.forward(operands);
    }
    compare(o, reference.o, c.heads, "o");
    for (size_t slice = 0; slice < lse.size(); ++slice)
      for (int64_t i = 0; i < lse[slice].size(); ++i)
        if (std::isinf(finalLse(int64_t(slice), i))) // it sees no key
          ASSERT_EQ(lse[slice].get(i), finalLse(int64_t(slice), i)) << name();
        else
          ASSERT_NEAR(lse[slice].get(i), finalLse(int64_t(slice), i),
                      tolerance(c.dtype))
              << name();
  }

  void backward(Backend &on) {
    std::vector<bool> begunQ(lse.size(), false), begunK = begunQ;
    for (size_t slice = 0; slice < lse.size(); ++slice)
      for (int64_t i = 0; i < lse[slice].size(); ++i)
        lse[slice].set(i, finalLse(int64_t(slice), i));
    for (const Step &step : stepsOf(ring)) {
      AttentionOperands operands = operandsOf(step);
      operands.o = finalO.from(step.queries * length);
      operands.call.rowO = finalO.row;
      operands.call.earlier = begunQ[size_t(step.queries)];
      operands.call.earlierKeys = begunK[size_t(step.keys)];
      begunQ[size_t(step.queries)] = begunK[size_t(step.keys)] = true;
      on.backward(operands);
    }
    compare(dQ, reference.dQ, c.heads, "d_q");
    compare(dK, reference.dK, c.kvHeads, "d_k");
    compare(dV, reference.dV, c.kvHeads, "d_v");
  }

private:
  Rows inputs(int64_t heads) const {
    return Rows(c.dtype, c.seqQ, heads * c.headDim, ring.isAligned ? 8 : 3);
  }
  /// Contiguous, as the contract wants sums over slices.
  Rows sums(int64_t heads) const {
    return Rows(TSR_DTYPE_F32, c.seqQ, heads * c.headDim, 0);
  }
  std::string name() const {
    return c.name() + " on " + std::to_string(ring.ranks) + " ranks" +
           (ring.isZigzag ? ", zigzag" : "");
  }

  template <typename Value>
  void each(Rows &to, int64_t heads, Value value) const {
    for (int64_t s = 0; s < c.seqQ; ++s)
      for (int64_t n = 0; n < heads; ++n)
        for (int64_t d = 0; d < c.headDim; ++d)
          to.buffer.set(s * to.row + n * c.headDim + d, value(s, n, d));
  }

  /// Returns element i of a slice's lse over all keys.
  double finalLse(int64_t slice, int64_t i) const {
    return reference
        .lse[size_t(i / length * c.seqQ + slice * length + i % length)];
  }

  AttentionOperands operandsOf(const Step &step) {
    std::vector<int64_t> args = x.args;
    args[TSR_ATTENTION_SEQ_Q] = args[TSR_ATTENTION_SEQ_K] = length;
    args[TSR_ATTENTION_QUERY_START] = step.queries * length;
    args[TSR_ATTENTION_QUERIES_TOTAL] = c.seqQ;
    args[TSR_ATTENTION_KEY_START] = step.keys * length;
    args[TSR_ATTENTION_KEYS_TOTAL] = c.seqK;
    args[TSR_ATTENTION_CAUSAL] = c.causal && (step.masked || c.window != 0);
    args[TSR_ATTENTION_ROW_Q] = args[TSR_ATTENTION_ROW_DO] = q.row;
    args[TSR_ATTENTION_ROW_K] = args[TSR_ATTENTION_ROW_V] = k.row;
    args[TSR_ATTENTION_ROW_O] = args[TSR_ATTENTION_ROW_DQ] = o.row;
    args[TSR_ATTENTION_ROW_DK] = args[TSR_ATTENTION_ROW_DV] = dK.row;
    const int64_t query = step.queries * length, key = step.keys * length;
    return {attentionCallOf(args, &dropoutKey),
            q.from(query),
            k.from(key),
            v.from(key),
            o.from(query),
            {&lse[size_t(step.queries)], 0},
            dO.from(query),
            dQ.from(query),
            dK.from(key),
            dV.from(key),
            {&x.table, 0},
            {&x.dTable, 0},
            &c.querySegments,
            &c.keySegments};
  }

  void compare(const Rows &found, const std::vector<double> &wanted,
               int64_t heads, const char *what) const {
    const double eps = tolerance(c.dtype) * (c.dtype == TSR_DTYPE_BF16 ? 2 : 1);
    double worst = 0;
    for (int64_t i = 0; i < c.seqQ * heads * c.headDim; ++i) {
      const double got = found.buffer.get(i), want = wanted[size_t(i)];
      ASSERT_FALSE(std::isnan(got)) << what << " " << name();
      worst = std::fmax(worst, std::fabs(got - want) / (1 + std::fabs(want)));
    }
    EXPECT_LT(worst, eps) << what << " " << name();
  }

  RingCase ring;
  AttentionCase c;
  AttentionData x;
  AttentionReference reference;
  int64_t length;
  Rows q, k, v, dO, finalO, o, dQ, dK, dV;
  std::vector<Buffer> lse;
  uint64_t dropoutKey = dropoutKeyOf(x);
};

/// Slices of less than a tile, and of a tile and a bit.
std::vector<RingCase> casesOf(int64_t dtype) {
  std::vector<RingCase> cases = {
      {{1, 2, 1, 105, 105, 24, true, false, 0.2}, 3, false, true},
      {{1, 2, 2, 140, 140, 40, false}, 2, false, true},
      {{1, 2, 1, 88, 88, 72, true}, 2, true, true},
      {{1, 2, 2, 90, 90, 24, true, false, 0.25}, 3, true, false},
      {{1, 1, 1, 70, 70, 75, true, false, 0.3}, 2, false, false},
      {{1, 2, 1, 105, 105, 24, true, false, 0.2}, 3, false, true},
      {{1, 2, 2, 90, 90, 40, true}, 3, true, false},
      {{1, 2, 1, 105, 105, 24, true, false, 0.2}, 3, false, true},
      {{1, 2, 2, 180, 180, 24, true}, 3, true, false}};
  cases[5].attention.window = 40; // one of three slices sees two
  cases[6].attention.window = 70; // more than half: chunks
  // Within a slice, across slices, and padding from there on.
  for (RingCase *c : {&cases[7], &cases[8]}) {
    const int64_t length = c->attention.seqQ / c->slices();
    c->attention.querySegments = c->attention.keySegments =
        segmentsOf(c->attention.seqQ, {length / 2, length, -(length / 3)});
  }
  for (RingCase &c : cases) {
    c.attention.dtype = dtype;
    c.attention.headStart = 2;
    c.attention.headsTotal = 8;
  }
  return cases;
}

} // namespace

void tessera::test::expectSlicesMakeTheWhole(Backend &on, int64_t dtype) {
  for (const RingCase &c : casesOf(dtype)) {
    Ring ring(c);
    ring.forward(on);
    ring.backward(on);
  }
}
