//===- AttentionReference.h - Naive attention in f64 ------------*- C++ -*-===//
#ifndef TESSERA_TEST_RUNTIME_CPU_ATTENTIONREFERENCE_H
#define TESSERA_TEST_RUNTIME_CPU_ATTENTIONREFERENCE_H

#include "test/Runtime/cpu/TestBuffer.h"

#include <string>

namespace tessera::test {

/// One attention problem with its buffers, laid out as `fused` asks: q, k, v in
/// one buffer of rows [q | k | v | gap], or apart.
struct AttentionCase {
  int64_t batch = 1, heads = 1, kvHeads = 1, seqQ = 1, seqK = 1, headDim = 1;
  bool causal = false, fused = false;
  double dropout = 0;
  int64_t dtype = TSR_DTYPE_F32;
  int64_t batchStart = 0, headStart = 0, headsTotal = 0; /* 0: heads */
  double scale = 0;                                      /* 0: 1/sqrt(d) */
  int64_t queryStart = 0, queriesTotal = 0;              /* 0: seqQ */
  int64_t buckets = 0, maxDistance = 0;                  /* 0: no bias */
  int64_t window = 0;                                    /* 0: none */
  /// [batch, seqQ] and [batch, seqK]; empty: nothing is kept apart.
  std::vector<int32_t> querySegments = {}, keySegments = {};

  int64_t qColumns() const { return heads * headDim; }
  int64_t kvColumns() const { return kvHeads * headDim; }
  int64_t rowQ() const { return fused ? fusedRow() : qColumns() + 3; }
  int64_t rowKV() const { return fused ? fusedRow() : kvColumns() + 5; }
  int64_t fusedRow() const { return qColumns() + 2 * kvColumns() + 1; }
  int64_t rowO() const { return qColumns() + 2; }
  double actualScale() const;
  bool sees(int64_t b, int64_t s, int64_t t) const;
  std::string name() const;
};

/// Everything an attention call reads and writes.
struct AttentionData {
  explicit AttentionData(const AttentionCase &c, unsigned seed);

  /// Calls the entries under test; expect success.
  void forward(int threads);
  void backward(int threads);

  double q(int64_t b, int64_t s, int64_t n, int64_t d) const;
  double k(int64_t b, int64_t s, int64_t n, int64_t d) const;
  double v(int64_t b, int64_t s, int64_t n, int64_t d) const;
  double &operator[](int) = delete;

  AttentionCase c;
  Buffer qBuffer, kBuffer, vBuffer; /* fused: only qBuffer */
  Buffer o, lse, dO;
  Buffer dQ, dK, dV; /* fused: only dQ */
  Buffer table, dTable;
  std::vector<int64_t> args;

  void *kData() { return c.fused ? qBuffer.at(c.qColumns()) : kBuffer.data(); }
  void *vData() {
    return c.fused ? qBuffer.at(c.qColumns() + c.kvColumns()) : vBuffer.data();
  }
  double gradQ(int64_t b, int64_t s, int64_t n, int64_t d) const;
  double gradK(int64_t b, int64_t s, int64_t n, int64_t d) const;
  double gradV(int64_t b, int64_t s, int64_t n, int64_t d) const;
};

/// Plain loops in f64 with the whole matrix of probabilities.
struct AttentionReference {
  explicit AttentionReference(const AttentionData &data);

  /// Returns the index of (b, s, n, d) in o and dQ, and in dK and dV.
  int64_t atQ(int64_t b, int64_t s, int64_t n, int64_t d) const;
  int64_t atKV(int64_t b, int64_t s, int64_t n, int64_t d) const;

  AttentionCase c;
  std::vector<double> table, dTable;
  std::vector<double> o, lse, dQ, dK, dV;

private:
  void head(int64_t b, int64_t n);

  std::vector<double> q, k, v, dO; /* indexed by atQ and atKV */
};

} // namespace tessera::test

#endif // TESSERA_TEST_RUNTIME_CPU_ATTENTIONREFERENCE_H
