//===- TopOfRow.h - The best logits of a row --------------------*- C++ -*-===//
#ifndef TESSERA_RUNTIME_CUDA_SAMPLING_TOPOFROW_H
#define TESSERA_RUNTIME_CUDA_SAMPLING_TOPOFROW_H

#include "runtime/cuda/attention/DropoutMask.h"
#include "runtime/cuda/sampling/SamplingParams.h"

#include <cmath>

namespace tessera::cuda {

/// Gumbel noise as runtime/support/Gumbel.h has it.
struct Noise {
  uint64_t seed;
  int64_t position; /* below 0: none */

  TSR_DEVICE uint32_t word(int index) const {
    return philoxWord(uint64_t(position) << 32 | uint32_t(index), seed);
  }
  TSR_DEVICE static double of(uint32_t word) {
    return -log(-log((word + 0.5) / 4294967296.0));
  }
  /// Returns a bound that is no less than the noise, and cheap: -log(-log(u))
  /// <= -log(1 - u), with room for the error of a logarithm in f32.
  template <typename Exec> TSR_DEVICE static float bound(uint32_t word) {
    constexpr float ln2 = 0.69314718f, room = 1e-3f;
    return (32.0f - Exec::log2(float(~word) + 0.5f)) * ln2 + room;
  }
};

/// Each thread keeps the best of its columns. The best of these is the next of
/// the list, and then its columns are searched for the one after it, by all
/// threads at once.
struct TopOfRow : BlockPerRow {
  static constexpr int kGroups = 16; /* groups, of which each thread reads the
                                        best */
  static constexpr int kSharedBytes =
      (2 * kThreads + kGroups) * int(sizeof(Candidate));
  static Grid grid(const TopParams &p) { return {p.rows, 1, 1}; }

  template <typename Exec>
  static TSR_DEVICE void run(const TopParams &p, unsigned char *shared) {
    auto *best = reinterpret_cast<Candidate *>(shared);
    Candidate *found = best + kThreads, *groups = found + kThreads;
    const int thread = Exec::thread();
    const Row row = rowOf(p, Exec::blockX());
    Candidate own = noCandidate();
    for (int column = thread; column < p.valid; column += kThreads)
      own = consider<Exec>(p, row, column, own);
    Exec::storeShared(best + thread, own);
    for (int k = 0; k < p.count; ++k) {
      const Candidate next = bestOf<Exec>(best, groups);
      if (thread == 0)
        write(p, row, k, next);
      if (next.place == kNoPlace || k + 1 == p.count)
        continue; // the same for all threads
      const int owner = next.place % kThreads;
      Candidate later = noCandidate();
      for (int column = owner + thread * kThreads; column < p.valid;
           column += kThreads * kThreads)
        later = considerAfter<Exec>(p, row, column, next, later);
      Exec::storeShared(found + thread, later);
      const Candidate other = bestOf<Exec>(found, groups);
      if (thread == owner)
        Exec::storeShared(best + owner, other);
    }
  }

private:
  struct Row {
    int number;
    const float *logits;
    float sharpness;
    Noise noise;
  };

  static TSR_DEVICE Row rowOf(const TopParams &p, int row) {
    Row of = {row, p.logits + int64_t(row) * p.columns, 1, {0, -1}};
    if (!p.draws)
      return of;
    const int32_t *draw = p.draws + 3 * int64_t(row);
    of.sharpness = p.sharpness[row];
    of.noise.seed = uint64_t(uint32_t(draw[0])) | uint64_t(uint32_t(draw[1]))
                                                      << 32;
    of.noise.position = draw[2];
    return of;
  }

  /// Returns the better one of `own` and the column.
  template <typename Exec>
  static TSR_DEVICE Candidate consider(const TopParams &p, const Row &row,
                                       int column, const Candidate &own) {
    const float logit = row.logits[column];
    if (!p.draws)
      return logit > -__builtin_huge_valf() ? firstOf(own, {logit, column})
                                            : own;
    const double value = double(logit) * row.sharpness;
    double noise = 0;
    if (row.noise.position >= 0) {
      const uint32_t word = row.noise.word(p.start + column);
      if (!(float(value + Noise::bound<Exec>(word)) > own.value))
        return own; // columns come in order: of equal ones the first stays
      noise = Noise::of(word);
    }
    const float score = float(value + noise);
    return score > -__builtin_huge_valf() ? firstOf(own, {score, column}) : own;
  }

  template <typename Exec>
  static TSR_DEVICE Candidate considerAfter(const TopParams &p, const Row &row,
                                            int column, const Candidate &last,
                                            const Candidate &own) {
    const Candidate one = consider<Exec>(p, row, column, noCandidate());
    return isBefore(last, one) ? firstOf(own, one) : own;
  }

  /// Returns the best of all threads' candidates to each thread, once they are
  /// there.
  template <typename Exec>
  static TSR_DEVICE Candidate bestOf(const Candidate *all, Candidate *groups) {
    constexpr int width = kThreads / kGroups;
    const int thread = Exec::thread();
    Exec::barrier();
    if (thread < kGroups) {
      Candidate best = Exec::loadShared(all + thread * width);
      for (int i = 1; i < width; ++i)
        best = firstOf(best, Exec::loadShared(all + thread * width + i));
      Exec::storeShared(groups + thread, best);
    }
    Exec::barrier();
    Candidate best = Exec::loadShared(groups);
    for (int i = 1; i < kGroups; ++i)
      best = firstOf(best, Exec::loadShared(groups + i));
    Exec::barrier(); // `groups` and `all` may be written again
    return best;
  }

  static TSR_DEVICE void write(const TopParams &p, const Row &row, int k,
                               const Candidate &one) {
    const int numbers = p.draws ? 3 : 2;
    float *to = p.lists + (int64_t(row.number) * p.count + k) * numbers;
    const bool isOne = one.place != kNoPlace;
    to[0] = one.value;
    to[1] = float(isOne ? p.start + one.place : p.total);
    if (p.draws)
      to[2] = isOne ? row.logits[one.place] : one.value;
  }
};

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_SAMPLING_TOPOFROW_H
