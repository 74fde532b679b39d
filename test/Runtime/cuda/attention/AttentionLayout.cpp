//===- AttentionLayout.cpp - Calls in either layout -----------------------===//

#include "test/Runtime/cuda/attention/AttentionSuite.h"

#include <algorithm>

using namespace tessera;
using namespace tessera::test;

uint64_t tessera::test::dropoutKeyOf(const AttentionData &x) {
  return tsr_abi_stream(x.args[TSR_ATTENTION_SEED], x.args[TSR_ATTENTION_STEP],
                        x.args[TSR_ATTENTION_STREAM]);
}

cuda::AttentionCall
tessera::test::attentionCallOf(const std::vector<int64_t> &args,
                               const uint64_t *key) {
  const AttentionArguments given = attentionArguments(args.data());
  return {given, given.dropout > 0 ? key : nullptr};
}

static AttentionOperands given(AttentionData &x, const uint64_t *key) {
  const int64_t k = x.c.qColumns(), v = k + x.c.kvColumns();
  const bool fused = x.c.fused;
  return {attentionCallOf(x.args, key),
          {&x.qBuffer, 0},
          {fused ? &x.qBuffer : &x.kBuffer, fused ? k : 0},
          {fused ? &x.qBuffer : &x.vBuffer, fused ? v : 0},
          {&x.o, 0},
          {&x.lse, 0},
          {&x.dO, 0},
          {&x.dQ, 0},
          {fused ? &x.dQ : &x.dK, fused ? k : 0},
          {fused ? &x.dQ : &x.dV, fused ? v : 0},
          {&x.table, 0},
          {&x.dTable, 0},
          &x.c.querySegments,
          &x.c.keySegments};
}

namespace {
/// The tensors of a call with their rows moved to multiples of 16 bytes.
class Aligned {
public:
  explicit Aligned(const AttentionOperands &call) : from(call), to(call) {
    const cuda::AttentionCall &c = from.call;
    const int64_t q = c.batch * c.seqQ, k = c.batch * c.seqK;
    const int64_t wide = c.heads * c.headDim, narrow = c.kvHeads * c.headDim;
    cuda::AttentionCall &t = to.call;
    parts = {{&from.q, &to.q, c.rowQ, &t.rowQ, q, wide, {}},
             {&from.k, &to.k, c.rowK, &t.rowK, k, narrow, {}},
             {&from.v, &to.v, c.rowV, &t.rowV, k, narrow, {}},
             {&from.o, &to.o, c.rowO, &t.rowO, q, wide, {}},
             {&from.dO, &to.dO, c.rowDO, &t.rowDO, q, wide, {}},
             {&from.dQ, &to.dQ, c.rowDQ, &t.rowDQ, q, wide, {}},
             {&from.dK, &to.dK, c.rowDK, &t.rowDK, k, narrow, {}},
             {&from.dV, &to.dV, c.rowDV, &t.rowDV, k, narrow, {}}};
    for (Part &p : parts) {
      *p.newRow = (p.columns + 7) / 8 * 8 + 8;
      p.buffer = Buffer(c.dtype, p.rows * *p.newRow);
      *p.to = {&p.buffer, 0};
      copy(p, *p.from, p.oldRow, *p.to, *p.newRow);
    }
  }

  const AttentionOperands &operands() const { return to; }

  void copyBack() {
    for (Part &p : parts)
      copy(p, *p.to, *p.newRow, *p.from, p.oldRow);
  }

private:
  struct Part {
    const Tensor *from;
    Tensor *to;
    int64_t oldRow;
    int64_t *newRow;
    int64_t rows, columns;
    Buffer buffer;
  };

  static void copy(const Part &p, const Tensor &source, int64_t sourceRow,
                   const Tensor &target, int64_t targetRow) {
    for (int64_t r = 0; r < p.rows; ++r)
      for (int64_t i = 0; i < p.columns; ++i)
        target.buffer->set(
            target.offset + r * targetRow + i,
            source.buffer->get(source.offset + r * sourceRow + i));
  }

  AttentionOperands from, to;
  std::vector<Part> parts;
};
} // namespace

void tessera::test::runForward(Backend &on, AttentionData &data,
                               Layout layout) {
  const uint64_t key = dropoutKeyOf(data);
  if (layout == Layout::Given)
    return on.forward(given(data, &key));
  Aligned aligned(given(data, &key));
  on.forward(aligned.operands());
  aligned.copyBack();
}

void tessera::test::runBackward(Backend &on, AttentionData &data,
                                Layout layout) {
  const uint64_t key = dropoutKeyOf(data);
  if (layout == Layout::Given)
    return on.backward(given(data, &key));
  Aligned aligned(given(data, &key));
  on.backward(aligned.operands());
  aligned.copyBack();
}

std::vector<Layout> tessera::test::layoutsOf(const AttentionCase &c) {
  // The layout of rows has nothing to do with biases, segments and order: one
  // of two cases that differ in these has both layouts.
  if (c.buckets != 0 || !c.querySegments.empty() || !c.causal ||
      c.headDim % (c.dtype == TSR_DTYPE_BF16 ? 8 : 4) != 0)
    return {Layout::Given};
  return {Layout::Given, Layout::Aligned};
}

std::vector<AttentionCase> tessera::test::gpuAttentionCases(int64_t dtype) {
  std::vector<AttentionCase> cases = attentionCases(dtype);
  const auto add = [&](AttentionCase c) {
    c.dtype = dtype;
    cases.push_back(c);
  };
  for (bool causal : {false, true}) {
    add({1, 4, 1, 150, 150, 64, causal, true});
    add({1, 2, 1, 129, 257, 128, causal, false, 0.2});
    add({2, 2, 2, 33, 96, 112, causal});
    // Biases: tiles wholly in the last bucket; one tile of wide heads.
    AttentionCase far{1, 1, 1, 133, 290, 64, causal};
    far.queryStart = causal ? 157 : 0;
    far.queriesTotal = 290;
    far.buckets = 32;
    far.maxDistance = 128;
    add(far);
    AttentionCase wide{2, 1, 1, 40, 70, 72, causal, false, causal ? 0.2 : 0};
    wide.buckets = 32;
    wide.maxDistance = 20;
    add(wide);
  }
  AttentionCase negative{1, 1, 1, 70, 70, 48, true};
  negative.scale = -0.3;
  add(negative);
  for (AttentionCase c : segmentedCases()) {
    c.headDim = std::min<int64_t>(c.headDim, 16); // padded to the same tiles
    add(c);
  }
  // Wide heads; segments that are larger than what a float holds.
  AttentionCase wide{1, 2, 1, 150, 150, 72, true, false, 0.2};
  wide.querySegments = wide.keySegments = segmentsOf(150, {30, 45, -20, 10});
  for (int32_t &segment : wide.querySegments)
    segment += segment < 0 ? 0 : (1 << 24);
  wide.keySegments = wide.querySegments;
  add(wide);
  return cases;
}
