//===- AttentionSuite.h - What attention must do anywhere -------*- C++ -*-===//
// The same expectations for the emulated kernels and for those on a GPU: a
// backend runs a call, the suite compares with the reference in f64 that the
// CPU entries are compared with.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_TEST_RUNTIME_CUDA_ATTENTION_ATTENTIONSUITE_H
#define TESSERA_TEST_RUNTIME_CUDA_ATTENTION_ATTENTIONSUITE_H

#include "runtime/cuda/attention/AttentionCall.h"
#include "test/Runtime/cpu/AttentionCases.h"

namespace tessera::test {

/// Given: the rows of AttentionCase, none of which starts at 16 bytes. Aligned:
/// rows and heads do (head_dim permitting), with a gap behind each row.
enum class Layout { Given, Aligned };

/// A tensor in host memory: starts at an element of a buffer.
struct Tensor {
  Buffer *buffer;
  int64_t offset;
};

struct AttentionOperands {
  cuda::AttentionCall call; /* its key is in host memory */
  Tensor q, k, v, o, lse, dO, dQ, dK, dV;
  Tensor table, dTable; /* without a bias empty */
  /// Segments of all positions that the call has a slice of; null without
  /// segments.
  const std::vector<int32_t> *querySegments, *keySegments;
};

/// Decodes TSR_ATTENTION_* as the entries hand them on.
cuda::AttentionCall attentionCallOf(const std::vector<int64_t> &args,
                                    const uint64_t *key);
uint64_t dropoutKeyOf(const AttentionData &data);

/// Runs calls; fails the test where that is impossible.
class Backend {
public:
  virtual ~Backend() = default;
  virtual void forward(const AttentionOperands &call) = 0;
  virtual void backward(const AttentionOperands &call) = 0;
};

/// Runs a case in a layout; results arrive in `data`.
void runForward(Backend &on, AttentionData &data, Layout layout);
void runBackward(Backend &on, AttentionData &data, Layout layout);

/// Returns the cases of the CPU's tests and some more, around the tiles of a
/// GPU.
std::vector<AttentionCase> gpuAttentionCases(int64_t dtype);
std::vector<Layout> layoutsOf(const AttentionCase &c);

void expectForwardEqualsReference(Backend &on, int64_t dtype);
void expectBackwardEqualsReference(Backend &on, int64_t dtype);
void expectSlicesMakeTheWhole(Backend &on, int64_t dtype);
void expectMaskIsPhiloxOfGlobalIndex(Backend &on, int64_t dtype);
void expectUnseenKeysHaveGradientZero(Backend &on, int64_t dtype);
void expectLargeScoresDoNotOverflow(Backend &on, int64_t dtype);
void expectNanStaysInItsRow(Backend &on, int64_t dtype);
void expectHiddenTilesAreNotRead(Backend &on, int64_t dtype);
void expectGapsAreUntouched(Backend &on, int64_t dtype);
/// Both backends give the same bits; they may be one.
void expectSameBits(Backend &one, Backend &other, int64_t dtype);

} // namespace tessera::test

#endif // TESSERA_TEST_RUNTIME_CUDA_ATTENTION_ATTENTIONSUITE_H
