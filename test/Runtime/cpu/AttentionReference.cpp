//===- AttentionReference.cpp - Naive attention in f64 --------------------===//

#include "test/Runtime/cpu/AttentionReference.h"
#include "runtime/cpu/CpuEntries.h"
#include "runtime/support/Philox.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace tessera;
using namespace tessera::test;

static constexpr int64_t kSeed = 1234, kStep = 7, kStream = 3;

static int64_t bitsOf(double value) {
  int64_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

double AttentionCase::actualScale() const {
  return scale != 0 ? scale : 1 / std::sqrt(double(headDim));
}

bool AttentionCase::sees(int64_t b, int64_t s, int64_t t) const {
  const int64_t behind = queryStart + s - t;
  if (causal && (behind < 0 || (window != 0 && behind >= window)))
    return false;
  if (querySegments.empty())
    return true;
  const int32_t own = querySegments[size_t(b * seqQ + s)];
  return own >= 0 && own == keySegments[size_t(b * seqK + t)];
}

std::string AttentionCase::name() const {
  static const char *const types[] = {"f32", "bf16", "f64"};
  return std::string(types[dtype]) + " b" + std::to_string(batch) + " h" +
         std::to_string(heads) + "/" + std::to_string(kvHeads) + " s" +
         std::to_string(seqQ) + "x" + std::to_string(seqK) + " d" +
         std::to_string(headDim) + (causal ? " causal" : "") +
         (queryStart ? " from " + std::to_string(queryStart) : "") +
         (fused ? " fused" : "") +
         (buckets ? " buckets " + std::to_string(buckets) : "") +
         (window ? " window " + std::to_string(window) : "") +
         (querySegments.empty() ? "" : " segments") +
         (dropout > 0 ? " dropout " + std::to_string(dropout) : "");
}

AttentionData::AttentionData(const AttentionCase &c, unsigned seed) : c(c) {
  const int64_t lseType =
      c.dtype == TSR_DTYPE_F64 ? TSR_DTYPE_F64 : TSR_DTYPE_F32;
  qBuffer = Buffer(c.dtype, c.batch * c.seqQ * c.rowQ());
  dQ = qBuffer;
  if (!c.fused) {
    kBuffer = vBuffer = Buffer(c.dtype, c.batch * c.seqK * c.rowKV());
    dK = dV = kBuffer;
  }
  o = dO = Buffer(c.dtype, c.batch * c.seqQ * c.rowO());
  lse = Buffer(lseType, c.batch * c.heads * c.seqQ);
  table = dTable = Buffer(lseType, c.buckets * c.heads);
  table.fillNormal(seed + 4);
  qBuffer.fillNormal(seed);
  kBuffer.fillNormal(seed + 1);
  vBuffer.fillNormal(seed + 2);
  dO.fillNormal(seed + 3);
  args = {c.batch,      c.heads,
          c.kvHeads,    c.seqQ,
          c.seqK,       c.headDim,
          c.rowQ(),     c.rowKV(),
          c.rowKV(),    c.rowO(),
          c.rowQ(),     c.rowKV(),
          c.rowKV(),    c.rowO(),
          c.causal,     bitsOf(c.actualScale()),
          c.dtype,      bitsOf(c.dropout),
          kSeed,        kStep,
          kStream,      c.batchStart,
          c.headStart,  c.headsTotal ? c.headsTotal : c.heads,
          c.queryStart, c.queriesTotal ? c.queriesTotal : c.seqQ};
  args.resize(TSR_ATTENTION_ARGS);
  args[TSR_ATTENTION_BUCKETS] = c.buckets;
  args[TSR_ATTENTION_MAX_DISTANCE] = c.maxDistance;
  args[TSR_ATTENTION_WINDOW] = c.window;
  args[TSR_ATTENTION_SEGMENTS] = !c.querySegments.empty();
}

void AttentionData::forward(int threads) {
  std::vector<void *> buffers = {qBuffer.data(), kData(), vData(), o.data(),
                                 lse.data()};
  if (c.buckets)
    buffers.push_back(table.data());
  buffers.insert(buffers.end(), {c.querySegments.data(), c.keySegments.data()});
  std::string error;
  ASSERT_EQ(cpuAttention(threads, buffers.data(), args.data(), &error), 0)
      << error;
}

void AttentionData::backward(int threads) {
  void *dKData = c.fused ? dQ.at(c.qColumns()) : dK.data();
  void *dVData = c.fused ? dQ.at(c.qColumns() + c.kvColumns()) : dV.data();
  std::vector<void *> buffers = {dO.data(), qBuffer.data(), kData(),
                                 vData(),   o.data(),       lse.data(),
                                 dQ.data(), dKData,         dVData};
  if (c.buckets)
    buffers.insert(buffers.end(), {table.data(), dTable.data()});
  buffers.insert(buffers.end(), {c.querySegments.data(), c.keySegments.data()});
  std::string error;
  ASSERT_EQ(cpuAttentionBackward(threads, buffers.data(), args.data(), &error),
            0)
      << error;
}

static int64_t element(const AttentionCase &c, int64_t seq, int64_t row,
                       int64_t b, int64_t s, int64_t n, int64_t d) {
  return (b * seq + s) * row + n * c.headDim + d;
}

double AttentionData::q(int64_t b, int64_t s, int64_t n, int64_t d) const {
  return qBuffer.get(element(c, c.seqQ, c.rowQ(), b, s, n, d));
}
double AttentionData::k(int64_t b, int64_t s, int64_t n, int64_t d) const {
  const int64_t i = element(c, c.seqK, c.rowKV(), b, s, n, d);
  return c.fused ? qBuffer.get(c.qColumns() + i) : kBuffer.get(i);
}
double AttentionData::v(int64_t b, int64_t s, int64_t n, int64_t d) const {
  const int64_t i = element(c, c.seqK, c.rowKV(), b, s, n, d);
  return c.fused ? qBuffer.get(c.qColumns() + c.kvColumns() + i)
                 : vBuffer.get(i);
}
double AttentionData::gradQ(int64_t b, int64_t s, int64_t n, int64_t d) const {
  return dQ.get(element(c, c.seqQ, c.rowQ(), b, s, n, d));
}
double AttentionData::gradK(int64_t b, int64_t s, int64_t n, int64_t d) const {
  const int64_t i = element(c, c.seqK, c.rowKV(), b, s, n, d);
  return c.fused ? dQ.get(c.qColumns() + i) : dK.get(i);
}
double AttentionData::gradV(int64_t b, int64_t s, int64_t n, int64_t d) const {
  const int64_t i = element(c, c.seqK, c.rowKV(), b, s, n, d);
  return c.fused ? dQ.get(c.qColumns() + c.kvColumns() + i) : dV.get(i);
}

int64_t AttentionReference::atQ(int64_t b, int64_t s, int64_t n,
                                int64_t d) const {
  return ((b * c.seqQ + s) * c.heads + n) * c.headDim + d;
}
int64_t AttentionReference::atKV(int64_t b, int64_t s, int64_t n,
                                 int64_t d) const {
  return ((b * c.seqK + s) * c.kvHeads + n) * c.headDim + d;
}

AttentionReference::AttentionReference(const AttentionData &x) : c(x.c) {
  o.resize(size_t(c.batch * c.seqQ * c.heads * c.headDim));
  q = dO = dQ = o;
  dK.resize(size_t(c.batch * c.seqK * c.kvHeads * c.headDim));
  k = v = dV = dK;
  lse.resize(size_t(c.batch * c.heads * c.seqQ));
  dTable.resize(size_t(c.buckets * c.heads));
  for (int64_t i = 0; i < c.buckets * c.heads; ++i)
    table.push_back(x.table.get(i));
  for (int64_t b = 0; b < c.batch; ++b)
    for (int64_t d = 0; d < c.headDim; ++d) {
      for (int64_t s = 0; s < c.seqQ; ++s)
        for (int64_t n = 0; n < c.heads; ++n) {
          q[size_t(atQ(b, s, n, d))] = x.q(b, s, n, d);
          dO[size_t(atQ(b, s, n, d))] =
              x.dO.get(element(c, c.seqQ, c.rowO(), b, s, n, d));
        }
      for (int64_t t = 0; t < c.seqK; ++t)
        for (int64_t n = 0; n < c.kvHeads; ++n) {
          k[size_t(atKV(b, t, n, d))] = x.k(b, t, n, d);
          v[size_t(atKV(b, t, n, d))] = x.v(b, t, n, d);
        }
    }
  for (int64_t b = 0; b < c.batch; ++b)
    for (int64_t n = 0; n < c.heads; ++n)
      head(b, n);
}

/// Returns 0 where dropped, 1/(1-p) where kept, by the formula in abi.h.
static double dropoutFactor(const AttentionCase &c, int64_t b, int64_t n,
                            int64_t s, int64_t t) {
  const int64_t total = c.headsTotal ? c.headsTotal : c.heads;
  const int64_t queries = c.queriesTotal ? c.queriesTotal : c.seqQ;
  const int64_t row = ((c.batchStart + b) * total + c.headStart + n) * queries +
                      c.queryStart + s;
  const int64_t index = row * c.seqK + t;
  const uint32_t word =
      philox(uint64_t(index), tsr_abi_stream(kSeed, kStep, kStream));
  return double(word) >= c.dropout * 4294967296.0 ? 1 / (1 - c.dropout) : 0;
}

/// Adds in four sums, which need not wait for each other.
static double dot(const double *a, const double *b, int64_t count) {
  double sums[4] = {};
  int64_t i = 0;
  for (; i + 4 <= count; i += 4)
    for (int64_t k = 0; k < 4; ++k)
      sums[k] += a[i + k] * b[i + k];
  for (; i < count; ++i)
    sums[0] += a[i] * b[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/// Finds the bucket as in Raffel et al. 2020, section 2.1, with Hugging Face's
/// formula.
static int64_t bucketOf(const AttentionCase &c, int64_t s, int64_t t) {
  int64_t behind = c.queryStart + s - t, first = 0, m = c.buckets;
  if (!c.causal) {
    m /= 2;
    first = behind < 0 ? m : 0;
    behind = std::abs(behind);
  }
  const int64_t exact = m / 2;
  if (behind < exact)
    return first + behind;
  const float steps = std::log(float(behind) / float(exact)) /
                      float(std::log(double(c.maxDistance) / double(exact))) *
                      float(m - exact);
  return first + std::min(m - 1, exact + int64_t(steps));
}

void AttentionReference::head(int64_t b, int64_t n) {
  const int64_t kv = n / (c.heads / c.kvHeads), dims = c.headDim;
  const double scale = c.actualScale();
  std::vector<double> p(size_t(c.seqK)), factor(p), dP(p);
  for (int64_t s = 0; s < c.seqQ; ++s) {
    const size_t row = size_t(atQ(b, s, n, 0));
    std::vector<size_t> seen;
    for (int64_t t = 0; t < c.seqK; ++t)
      if (c.sees(b, s, t))
        seen.push_back(size_t(t));
    const auto key = [&](size_t t) {
      return size_t(atKV(b, int64_t(t), kv, 0));
    };
    double sum = 0, mean = 0; /* mean: sum over t of P M (dO . V) */
    const auto bias = [&](size_t t) {
      return size_t(bucketOf(c, s, int64_t(t)) * c.heads + n);
    };
    for (size_t t : seen)
      sum += p[t] = std::exp(scale * dot(&q[row], &k[key(t)], dims) +
                             (c.buckets ? table[bias(t)] : 0));
    lse[size_t((b * c.heads + n) * c.seqQ + s)] = std::log(sum);
    for (size_t t : seen) {
      p[t] /= sum;
      factor[t] = dropoutFactor(c, b, n, s, int64_t(t));
      dP[t] = factor[t] * dot(&dO[row], &v[key(t)], dims);
      mean += p[t] * dP[t];
      for (size_t d = 0; d < size_t(dims); ++d) {
        o[row + d] += p[t] * factor[t] * v[key(t) + d];
        dV[key(t) + d] += p[t] * factor[t] * dO[row + d];
      }
    }
    for (size_t t : seen)
      if (c.buckets)
        dTable[bias(t)] += p[t] * (dP[t] - mean);
    for (size_t t : seen)
      for (size_t d = 0; d < size_t(dims); ++d) {
        const double dS = p[t] * (dP[t] - mean) * scale;
        dQ[row + d] += dS * k[key(t) + d];
        dK[key(t) + d] += dS * q[row + d];
      }
  }
}
