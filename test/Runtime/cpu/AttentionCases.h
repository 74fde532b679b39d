//===- AttentionCases.h - The problems both attention tests run -*- C++ -*-===//
#ifndef TESSERA_TEST_RUNTIME_CPU_ATTENTIONCASES_H
#define TESSERA_TEST_RUNTIME_CPU_ATTENTIONCASES_H

#include "runtime/cpu/CpuKernels.h"
#include "test/Runtime/cpu/AttentionReference.h"

namespace tessera::test {

/// Returns the windows of one key, less than a block, blocks and a bit, all but
/// a few keys; queries that begin anywhere; queries that see no key at all.
inline std::vector<AttentionCase> windowedCases() {
  std::vector<AttentionCase> cases;
  for (int64_t window : {1, 5, 64, 65, 100, 199})
    cases.push_back({1, 4, 2, 200, 200, 16, true, window == 64});
  const int64_t windows[] = {1, 5, 64, 65, 100, 199};
  for (size_t i = 0; i < cases.size(); ++i)
    cases[i].window = windows[i];
  AttentionCase dropped{2, 2, 2, 150, 150, 24, true, true, 0.3};
  dropped.window = 40;
  cases.push_back(dropped);
  AttentionCase slice{1, 2, 2, 70, 256, 16, true, false, 0.2};
  slice.queriesTotal = 256;
  slice.window = 50;
  for (int64_t start : {0, 30, 128, 186}) {
    slice.queryStart = start;
    cases.push_back(slice);
  }
  AttentionCase biased{2, 3, 3, 150, 150, 16, true};
  biased.buckets = 16;
  biased.maxDistance = 64;
  biased.window = 70;
  cases.push_back(biased);
  AttentionCase unseen{1, 2, 1, 260, 70, 16, true, false, 0.1};
  unseen.window = 30;
  cases.push_back(unseen);
  return cases;
}

/// Returns the segments of one sequence: 0, 1, .. of so many positions each,
/// padding (-1) where the length is negative, and what is left.
inline std::vector<int32_t> segmentsOf(int64_t positions,
                                       const std::vector<int64_t> &lengths) {
  std::vector<int32_t> segments;
  int32_t next = 0;
  for (int64_t length : lengths) {
    segments.insert(segments.end(), size_t(std::abs(length)),
                    length < 0 ? -1 : next);
    next += length >= 0;
  }
  segments.resize(size_t(positions), next);
  return segments;
}

inline std::vector<int32_t> joined(std::vector<int32_t> a,
                                   const std::vector<int32_t> &b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// Returns the documents of one position, of blocks, across them; padding at
/// the end, in the middle, of whole blocks, of all of a sequence; queries and
/// keys apart.
inline std::vector<AttentionCase> segmentedCases() {
  std::vector<AttentionCase> cases;
  const auto keep = [&](AttentionCase c, const std::vector<int32_t> &queries,
                        const std::vector<int32_t> &keys) {
    c.querySegments = queries;
    c.keySegments = keys;
    cases.push_back(c);
  };
  const std::vector<int64_t> lengths[] = {
      {1, 1, 62, 64, 1, 30}, {200}, {100, -100}, {5, -70, 60, -65}, {-200}};
  for (bool causal : {false, true})
    for (const std::vector<int64_t> &own : lengths) {
      const std::vector<int32_t> s = segmentsOf(200, own);
      keep({1, 4, 2, 200, 200, 16, causal, own[0] == 5,
            own[0] == 100 ? 0.3 : 0.0},
           s, s);
    }
  const std::vector<int32_t> two =
      joined(segmentsOf(130, {40, 70}), segmentsOf(130, {129, -1}));
  AttentionCase windowed{2, 2, 2, 130, 130, 24, true, false, 0.2};
  windowed.window = 30;
  keep(windowed, two, two);
  AttentionCase biased{2, 3, 3, 130, 130, 16, false, true};
  biased.buckets = 16;
  biased.maxDistance = 64;
  keep(biased, two, two);
  biased.causal = true;
  keep(biased, two, two);
  // The second document of queries has no keys.
  keep({1, 2, 1, 150, 70, 33}, segmentsOf(150, {70, 40, 20, -20}),
       joined(segmentsOf(40, {40}), std::vector<int32_t>(30, 2)));
  AttentionCase slice{1, 2, 2, 70, 256, 16, true, false, 0.2};
  slice.queriesTotal = 256;
  slice.queryStart = 100;
  const std::vector<int32_t> all = segmentsOf(256, {90, 50, 64});
  keep(slice, {all.begin() + 100, all.begin() + 170}, all);
  return cases;
}

/// Shapes around the block size (64) and the vector sizes, grouped heads,
/// cross attention, fused buffers, dropout.
inline std::vector<AttentionCase> attentionCases(int64_t dtype) {
  std::vector<AttentionCase> cases;
  const auto add = [&](AttentionCase c) {
    c.dtype = dtype;
    cases.push_back(c);
  };
  for (bool causal : {false, true}) {
    add({1, 1, 1, 1, 1, 1, causal});
    add({2, 3, 3, 17, 17, 5, causal});
    add({1, 2, 2, 64, 64, 64, causal});
    add({1, 2, 1, 65, 65, 64, causal, true});
    add({2, 4, 2, 130, 130, 24, causal, true});
    add({1, 6, 2, 200, 200, 16, causal, false, 0.25});
    add({1, 2, 2, 129, 129, 80, causal, true, 0.5});
    add({1, 2, 2, 40, 150, 33, causal});
    add({1, 2, 2, 150, 40, 32, causal, false, 0.1});
    add({1, 1, 1, 260, 260, 128, causal});
    AttentionCase shard{2, 2, 2, 70, 70, 8, causal, false, 0.3};
    shard.batchStart = 4;
    shard.headStart = 6;
    shard.headsTotal = 12;
    add(shard);
    AttentionCase slice{1, 2, 2, 128, 256, 16, causal, false, 0.2};
    slice.queriesTotal = 256;
    for (int64_t start : {64, 128, 100, 37}) { // a block's start, or not
      slice.queryStart = start;
      add(slice);
    }
    AttentionCase grouped{2, 4, 2, 70, 210, 24, causal};
    grouped.queryStart = 140;
    grouped.queriesTotal = 210;
    add(grouped);
    AttentionCase biased{2, 3, 3, 150, 150, 16, causal, true, 0.1};
    biased.buckets = 32;
    biased.maxDistance = 128;
    add(biased);
    AttentionCase biasedSlice{1, 2, 2, 70, 210, 24, causal};
    biasedSlice.queryStart = 100;
    biasedSlice.queriesTotal = 210;
    biasedSlice.buckets = 8;
    biasedSlice.maxDistance = 7;
    add(biasedSlice);
  }
  for (AttentionCase c : windowedCases())
    add(c);
  return cases;
}

/// Returns the same cases, and some with segments.
inline std::vector<AttentionCase> cpuAttentionCases(int64_t dtype) {
  std::vector<AttentionCase> cases = attentionCases(dtype);
  for (AttentionCase c : segmentedCases()) {
    c.dtype = dtype;
    cases.push_back(c);
  }
  return cases;
}

inline std::vector<CpuTarget> cpuTargets() {
  std::vector<CpuTarget> targets;
  for (int t = 0; t <= int(bestCpuTarget()); ++t)
    targets.push_back(CpuTarget(t));
  return targets;
}

/// Restores the best target at the end of a test.
struct TargetScope {
  ~TargetScope() { setCpuTarget(bestCpuTarget()); }
};

/// Errors grow with the terms of a sum, not with their number of digits: the
/// tolerance is absolute, for values of the order of 1. bf16 keeps 8 bits.
inline double tolerance(int64_t dtype) {
  return dtype == TSR_DTYPE_F64 ? 1e-12 : dtype == TSR_DTYPE_F32 ? 2e-5 : 3e-2;
}

} // namespace tessera::test

#endif // TESSERA_TEST_RUNTIME_CPU_ATTENTIONCASES_H
