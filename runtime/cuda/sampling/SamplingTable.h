//===- SamplingTable.h - Penalties, merged lists, and calls -----*- C++ -*-===//
// The launcher is a parameter: a stream on a GPU (SamplingKernels.cu), an
// emulator in tests.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CUDA_SAMPLING_SAMPLINGTABLE_H
#define TESSERA_RUNTIME_CUDA_SAMPLING_SAMPLINGTABLE_H

#include "runtime/cuda/attention/TileView.h"
#include "runtime/cuda/sampling/SamplingCall.h"
#include "runtime/cuda/sampling/TopOfRow.h"

namespace tessera::cuda {

/// A thread changes the logit of a token, if none before it in the row's list
/// is the same.
struct Penalize : BlockPerRow {
  static constexpr int kSharedBytes = 0;
  static Grid grid(const PenalizeParams &p) { return {p.rows, 1, 1}; }

  template <typename Exec>
  static TSR_DEVICE void run(const PenalizeParams &p, unsigned char *) {
    const int row = Exec::blockX();
    const float penalty = p.penalties[row];
    if (penalty == 1)
      return;
    float *logits = p.logits + int64_t(row) * p.columns;
    const int32_t *seen = p.seen + int64_t(row) * p.tokens;
    for (int k = Exec::thread(); k < p.tokens; k += kThreads) {
      const int64_t at = int64_t(seen[k]) - p.start;
      if (seen[k] < 0 || at < 0 || at >= p.valid || isAgain(seen, k))
        continue;
      const float logit = logits[at];
      logits[at] = logit > 0 ? logit / penalty : logit * penalty;
    }
  }

private:
  static TSR_DEVICE bool isAgain(const int32_t *seen, int k) {
    for (int before = 0; before < k; ++before)
      if (seen[before] == seen[k])
        return true;
    return false;
  }
};

/// A thread finds the places of candidates in the merged list: as many come
/// before each.
struct MergeTop : BlockPerRow {
  static constexpr int kSharedBytes = 0;
  static Grid grid(const MergeTopParams &p) { return {p.rows, 1, 1}; }

  template <typename Exec>
  static TSR_DEVICE void run(const MergeTopParams &p, unsigned char *) {
    const int row = Exec::blockX(), all = p.ranks * p.count;
    float *list = p.lists + int64_t(row) * p.count * p.numbers;
    for (int k = Exec::thread(); k < all; k += kThreads) {
      const Candidate own = candidate(p, row, k);
      if (own.place == kNoPlace)
        continue;
      int before = 0;
      for (int i = 0; i < all && before < p.count; ++i)
        before += isBefore(candidate(p, row, i), own);
      if (before < p.count)
        copy(p, entry(p, row, k), list + before * p.numbers);
    }
    fillRest(p, row, all, list, Exec::thread());
  }

private:
  static TSR_DEVICE const float *entry(const MergeTopParams &p, int row,
                                       int k) {
    const int64_t rank = k / p.count;
    return p.parts +
           ((rank * p.rows + row) * p.count + k % p.count) * p.numbers;
  }
  static TSR_DEVICE Candidate candidate(const MergeTopParams &p, int row,
                                        int k) {
    const float *from = entry(p, row, k);
    return from[0] > -__builtin_huge_valf() ? Candidate{from[0], int(from[1])}
                                            : noCandidate();
  }
  static TSR_DEVICE void copy(const MergeTopParams &p, const float *from,
                              float *to) {
    for (int i = 0; i < p.numbers; ++i)
      to[i] = from[i];
  }
  /// Fills the end of a list for which there are no candidates like the ends in
  /// the parts, one of which has such an end.
  static TSR_DEVICE void fillRest(const MergeTopParams &p, int row, int all,
                                  float *list, int thread) {
    int there = 0, last = 0;
    for (int k = 0; k < all && there < p.count; ++k)
      if (candidate(p, row, k).place == kNoPlace)
        last = k;
      else
        ++there;
    for (int k = there + thread; k < p.count; k += kThreads)
      copy(p, entry(p, row, last), list + k * p.numbers);
  }
};

template <typename Launcher>
typename Launcher::Status runPenalize(const PenalizeProblem &call,
                                      const Launcher &on) {
  return on.template run<Penalize>(makePenalizeParams(call));
}
template <typename Launcher>
typename Launcher::Status runTop(const TopProblem &call, const Launcher &on) {
  return on.template run<TopOfRow>(makeTopParams(call));
}
template <typename Launcher>
typename Launcher::Status runMergeTop(const MergeTopProblem &call,
                                      const Launcher &on) {
  return on.template run<MergeTop>(makeMergeTopParams(call));
}

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_SAMPLING_SAMPLINGTABLE_H
