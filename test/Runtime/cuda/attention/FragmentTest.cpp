//===- FragmentTest.cpp - Layouts of registers and shared memory ----------===//

#include "runtime/cuda/attention/Bf16Tile.h"
#include "runtime/cuda/attention/DropoutMask.h"
#include "runtime/cuda/attention/F32Tile.h"
#include "runtime/support/Philox.h"
#include "test/Runtime/cuda/attention/Emulator.h"

#include <gtest/gtest.h>
#include <set>

using namespace tessera;
using namespace tessera::cuda;
using namespace tessera::test;

TEST(Fragment, AccumulatorCoversEachElementOnce) {
  std::set<std::pair<int, int>> seen;
  for (int lane = 0; lane < kWarp; ++lane)
    for (int e = 0; e < 4; ++e)
      seen.insert({accumulatorRow(lane, e), accumulatorColumn(lane, e)});
  EXPECT_EQ(seen.size(), 16u * 8u);
  EXPECT_EQ(*seen.begin(), std::make_pair(0, 0));
  EXPECT_EQ(*seen.rbegin(), std::make_pair(15, 7));
}

template <int Columns> static void expectSwizzle(int rows) {
  constexpr int pieces = Columns / kBf16PerPiece;
  std::set<int> offsets;
  for (int row = 0; row < rows; ++row)
    for (int piece = 0; piece < pieces; ++piece) {
      const int at = pieceOffset<Columns>(row, piece);
      offsets.insert(at);
      EXPECT_EQ(at % kPieceBytes, 0);
      EXPECT_EQ(at / (Columns * 2), row);
      EXPECT_EQ(blockRight(pieceOffset<Columns>(row, piece % 2), piece / 2),
                at);
      for (int e = 0; e < kBf16PerPiece; ++e)
        EXPECT_EQ(elementOffset<Columns>(row, piece * kBf16PerPiece + e),
                  at + 2 * e);
    }
  EXPECT_EQ(offsets.size(), size_t(rows * pieces));
  EXPECT_EQ(*offsets.begin(), 0);
  EXPECT_EQ(*offsets.rbegin(), rows * Columns * 2 - kPieceBytes);
}

TEST(Fragment, SwizzleIsABijection) {
  expectSwizzle<64>(128);
  expectSwizzle<128>(128);
}

/// Shared memory serves 16-byte accesses by quarter warps: 8 lanes, 32 banks.
template <int Columns> static void expectNoConflicts() {
  for (int first = 0; first < kWarp; first += 8)
    for (int k = 0; k < Columns / 16; ++k) {
      std::set<int> rowsBanks, columnsBanks;
      for (int lane = first; lane < first + 8; ++lane) {
        const BlockRow r = rowsFirst(lane), c = columnsFirst(lane);
        rowsBanks.insert(pieceOffset<Columns>(r.row, 2 * k + r.piece) % 128);
        columnsBanks.insert(pieceOffset<Columns>(c.row, 2 * k + c.piece) % 128);
      }
      EXPECT_EQ(rowsBanks.size(), 8u);
      EXPECT_EQ(columnsBanks.size(), 8u);
    }
  for (int row = 0; row < 8; ++row) { // loads of a tile: 8 pieces of a row
    std::set<int> banks;
    for (int piece = 0; piece < 8; ++piece)
      banks.insert(pieceOffset<Columns>(row, piece) % 128);
    EXPECT_EQ(banks.size(), 8u);
  }
  std::set<int> banks; // stores of accumulators: 4 bytes of 32 lanes
  for (int lane = 0; lane < kWarp; ++lane)
    banks.insert(elementOffset<Columns>(accumulatorRow(lane, 0),
                                        accumulatorColumn(lane, 0)) %
                 128);
  EXPECT_EQ(banks.size(), 32u);
}

TEST(Fragment, SwizzleAvoidsBankConflicts) {
  expectNoConflicts<64>();
  expectNoConflicts<128>();
}

TEST(Fragment, LanesPointAtEveryRowOfABlock) {
  std::set<std::pair<int, int>> rows, columns;
  for (int lane = 0; lane < kWarp; ++lane) {
    rows.insert({rowsFirst(lane).row, rowsFirst(lane).piece});
    columns.insert({columnsFirst(lane).row, columnsFirst(lane).piece});
  }
  EXPECT_EQ(rows.size(), 32u);
  EXPECT_EQ(columns, rows);
}

TEST(F32Tile, ThreadsCoverEachElementOnce) {
  std::set<std::pair<int, int>> scores, sums;
  for (int t = 0; t < kF32Threads; ++t)
    for (int i = 0; i < kF32RowsEach; ++i) {
      for (int j = 0; j < kF32ScoresEach; ++j)
        scores.insert({f32Row(t, i), f32Column(t, j)});
      for (int j = 0; j < 128 / 32; ++j)
        for (int e = 0; e < 4; ++e)
          sums.insert({f32Row(t, i), f32SumColumn(t, j) + e});
    }
  EXPECT_EQ(scores.size(), size_t(kF32Rows * kF32Stream));
  EXPECT_EQ(*scores.rbegin(), std::make_pair(kF32Rows - 1, kF32Stream - 1));
  EXPECT_EQ(sums.size(), size_t(kF32Rows * 128));
  EXPECT_EQ(*sums.rbegin(), std::make_pair(kF32Rows - 1, 127));
}

/// Distinct 16-byte pieces that a quarter warp reads lie in distinct banks.
TEST(F32Tile, ReadsOfPiecesAvoidBankConflicts) {
  for (int columns : {32, 64, 128})
    for (int first = 0; first < kWarp; first += 8) {
      std::set<int> addresses, banks;
      for (int lane = first; lane < first + 8; ++lane) {
        addresses.insert(f32Column(lane, 0) * f32Pitch(columns) * 4);
        banks.insert(f32Column(lane, 0) * f32Pitch(columns) * 4 % 128 / 16);
      }
      EXPECT_EQ(banks.size(), addresses.size());
    }
}

TEST(DropoutMask, EqualsTheCpu) {
  EXPECT_EQ(philoxWord(0, 0), 0x6627E8D5u);
  for (uint64_t i = 0; i < 5000; ++i) {
    const uint64_t index = i * i * 0x9E3779B97F4Au + i, key = ~i << (i % 40);
    ASSERT_EQ(philoxWord(index, key), philox(index, key)) << i;
  }
}

TEST(DropoutMask, IndexIsThatOfTheGlobalTensor) {
  AttentionCall c{};
  c.kvHeads = 1;
  c.batchStart = int64_t(1) << 33;
  c.headStart = 5;
  c.headsTotal = 9;
  c.queriesTotal = 33;
  c.seqQ = 11;
  c.seqK = 300; // from 69700 on
  c.keyStart = 69700;
  c.keysTotal = 70000;
  c.queryStart = 22;
  const AttentionParams p = makeParams(c, {});
  for (int b = 0; b < 2; ++b)
    for (int head = 0; head < 3; ++head)
      for (int query = 0; query < 11; ++query) {
        const uint64_t want =
            (((uint64_t(c.batchStart) + uint64_t(b)) * 9 + 5 + uint64_t(head)) *
                 33 +
             22 + uint64_t(query)) *
                70000 +
            69999;
        EXPECT_EQ(scoreIndex(p, b, head, query, 299), want);
        const DropoutMask mask{1, scoreIndex(p, b, head, 0, 0), 1u << 31,
                               70000};
        EXPECT_EQ(mask.keeps(query, 299), philox(want, 1) > (1u << 31));
      }
}
