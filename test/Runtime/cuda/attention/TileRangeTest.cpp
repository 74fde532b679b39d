//===- TileRangeTest.cpp - Tiles cover what is visible, and only that -----===//

#include "runtime/cuda/attention/BackwardPlan.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace tessera::cuda;

/// All planes up to 40 x 40 with tiles that do and do not divide them.
template <typename Check> static void forEachPlane(const Check &check) {
  for (int q = 1; q <= 40; q += 3)
    for (int k = 1; k <= 40; ++k)
      for (int start : {0, 5, 24}) {
        check(ScorePlane{q, k, false, start, 0});
        for (int window : {0, 1, 6, 8, 23})
          check(ScorePlane{q, k, true, start, window});
      }
}

static bool anyVisible(const ScorePlane &p, int query, int queries, int key,
                       int keys) {
  for (int q = query; q < query + queries; ++q)
    for (int k = key; k < key + keys; ++k)
      if (p.visible(q, k))
        return true;
  return false;
}

TEST(TileRange, KeyTilesAreThoseWithAVisibleElement) {
  forEachPlane([](const ScorePlane &p) {
    for (int rows : {4, 16})
      for (int tile : {4, 8})
        for (int query = 0; query < p.seqQ; query += rows) {
          const TileRange range = keyTiles(p, query, rows, tile);
          for (int t = 0; t * tile < p.seqK + tile; ++t)
            ASSERT_EQ(t >= range.begin && t < range.end,
                      anyVisible(p, query, rows, t * tile, tile))
                << p.seqQ << "x" << p.seqK << " query " << query;
        }
  });
}

/// Behind the last tile of queries with a visible element there is none; before
/// the first neither, unless no query sees the key at all.
TEST(TileRange, QueryTilesAreThoseWithAVisibleElement) {
  forEachPlane([](const ScorePlane &p) {
    for (int rows : {4, 16})
      for (int tile : {4, 8})
        for (int key = 0; key < p.seqK; key += rows) {
          const TileRange range = queryTiles(p, key, rows, tile);
          for (int t = 0; t * tile < p.seqQ + tile; ++t) {
            const bool in = t >= range.begin && t < range.end;
            const bool seen = anyVisible(p, t * tile, tile, key, rows);
            ASSERT_TRUE(in || !seen);
            // The tile of the diagonal may end before the first seen query.
            ASSERT_TRUE(!in || seen || t == std::max(key - p.start, 0) / tile);
          }
        }
  });
}

TEST(TileRange, MaskIsNeededWhereSomethingIsInvisible) {
  forEachPlane([](const ScorePlane &p) {
    for (int query = 0; query < p.seqQ; query += 4)
      for (int key = 0; key < p.seqK; key += 8) {
        bool all = true;
        for (int q = query; q < query + 4; ++q)
          for (int k = key; k < key + 8; ++k)
            all = all && p.visible(q, k);
        ASSERT_EQ(needsMask(p, query, 4, key, 8), !all);
      }
  });
}

static AttentionParams paramsOf(const ScorePlane &plane, int heads,
                                int kvHeads) {
  AttentionParams p{};
  p.seqQ = plane.seqQ;
  p.seqK = plane.seqK;
  p.causal = plane.causal;
  p.queryStart = plane.start;
  p.window = plane.window;
  p.heads = heads;
  p.kvHeads = kvHeads;
  return p;
}

/// Expects that, from either side, every visible element of every head is met
/// exactly once.
template <Side S> static void expectOnce(const ScorePlane &plane) {
  constexpr int heads = 6, kvHeads = 2, rows = 8, tile = 4;
  const AttentionParams p = paramsOf(plane, heads, kvHeads);
  const int own = S == Side::Keys ? p.seqK : p.seqQ;
  std::vector<int> met(size_t(heads * p.seqQ * p.seqK));
  for (int head = 0; head < (S == Side::Keys ? kvHeads : heads); ++head)
    for (int first = 0; first < own; first += rows) {
      const BackwardPlan plan = backwardPlan<S>(p, head, first, rows, tile);
      for (int i = 0; i < plan.steps(); ++i)
        for (int a = first; a < first + rows; ++a)
          for (int b = plan.step(i).first; b < plan.step(i).first + tile; ++b) {
            const int query = S == Side::Keys ? b : a;
            const int key = S == Side::Keys ? a : b;
            ASSERT_EQ(plan.keyHead, plan.step(i).head / (heads / kvHeads));
            if (planeOf(p).visible(query, key))
              ++met[size_t((plan.step(i).head * p.seqQ + query) * p.seqK +
                           key)];
          }
    }
  for (int head = 0; head < heads; ++head)
    for (int q = 0; q < p.seqQ; ++q)
      for (int k = 0; k < p.seqK; ++k)
        ASSERT_EQ(met[size_t((head * p.seqQ + q) * p.seqK + k)],
                  planeOf(p).visible(q, k));
}

TEST(BackwardPlan, MeetsEveryVisibleElementOnce) {
  forEachPlane([](const ScorePlane &plane) {
    expectOnce<Side::Queries>(plane);
    expectOnce<Side::Keys>(plane);
  });
}

TEST(BackwardPlan, EveryTileOfQueriesHasABlock) {
  for (bool causal : {false, true}) {
    AttentionParams p{};
    p.causal = causal;
    std::vector<int> met(7);
    for (int block = 0; block < 7; ++block)
      ++met[size_t(queryTileOf(p, block, 7))];
    EXPECT_EQ(met, std::vector<int>(7, 1));
  }
}
