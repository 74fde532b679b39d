//===- HostBlockTest.cpp - The emulator finds what it promises ------------===//

#include "test/Runtime/cuda/attention/HostExec.h"

#include <gtest/gtest.h>

using namespace tessera::test;

static std::string defectOf(const std::function<void(float *)> &body,
                            Order order = Order::Forward) {
  HostBlock block(64, 1024, order);
  return block.run({0, 0, 0}, [&](unsigned char *shared) {
    body(reinterpret_cast<float *>(shared));
  });
}

TEST(HostBlock, OrderlyExchangeHasNoDefect) {
  for (Order order : {Order::Forward, Order::Backward, Order::Shuffled})
    EXPECT_EQ(defectOf(
                  [](float *x) {
                    const int t = HostExec::thread();
                    HostExec::storeShared(x + t, float(t));
                    HostExec::barrier();
                    EXPECT_EQ(HostExec::loadShared(x + 63 - t), 63 - t);
                  },
                  order),
              "");
}

TEST(HostBlock, FindsRaces) {
  EXPECT_EQ(defectOf([](float *x) {
              const int t = HostExec::thread();
              HostExec::storeShared(x + t, float(t));
              HostExec::loadShared(x + t / 2);
            }),
            "a read races with a write");
  EXPECT_EQ(defectOf([](float *x) {
              const int t = HostExec::thread();
              HostExec::storeShared(x + t, float(t));
              HostExec::barrier();
              HostExec::loadShared(x + (t + 1) % 64);
              HostExec::storeShared(x + t, 0.0f);
            }),
            "a write races with a read");
  EXPECT_EQ(defectOf([](float *x) { HostExec::storeShared(x, 1.0f); }),
            "a write races with a write");
}

TEST(HostBlock, FindsReadsOfNothing) {
  EXPECT_EQ(defectOf([](float *x) { HostExec::loadShared(x); }),
            "a read of what nobody wrote");
  EXPECT_EQ(defectOf([](float *x) { HostExec::loadShared(x + 256); }),
            "an access lies outside of shared memory");
}

TEST(HostBlock, CopiesArriveWhenWaitedFor) {
  static const float source[64] = {7};
  const auto copy = [](float *x, bool exists) {
    const int t = HostExec::thread();
    HostExec::copyAsync<4>(x + t, source + t, exists);
  };
  EXPECT_EQ(defectOf([&](float *x) {
              copy(x, true);
              HostExec::loadShared(x + HostExec::thread());
            }),
            "a read of a copy in flight");
  EXPECT_EQ(defectOf([&](float *x) {
              copy(x, true);
              HostExec::copyWait();
              HostExec::loadShared(x);
            }),
            "a read races with a write");
  EXPECT_EQ(defectOf([&](float *x) { copy(x, true); }),
            "a thread ends with copies in flight");
  for (bool exists : {false, true})
    EXPECT_EQ(defectOf([&](float *x) {
                copy(x, exists);
                HostExec::copyWait();
                HostExec::barrier();
                EXPECT_EQ(HostExec::loadShared(x), exists ? 7 : 0);
              }),
              "");
}

TEST(HostBlock, GroupsOfCopiesArriveInOrder) {
  static const float source[64] = {7};
  const auto readAfter = [](int which) {
    return defectOf([which](float *x) {
      const int t = HostExec::thread();
      for (int i = 0; i < 2; ++i) {
        HostExec::copyAsync<4>(x + 64 * i + t, source + t, true);
        HostExec::copyGroup();
      }
      HostExec::copyWaitGroups<1>();
      HostExec::barrier();
      HostExec::loadShared(x + 64 * which);
      HostExec::copyWaitGroups<0>();
    });
  };
  EXPECT_EQ(readAfter(0), "");
  EXPECT_EQ(readAfter(1), "a read of a copy in flight");
}

TEST(HostExec, BallotIsABitOfEachLane) {
  EXPECT_EQ(defectOf([](float *) {
              const int lane = HostExec::thread() % 32;
              const uint32_t all = HostExec::ballot(lane % 3 == 0);
              EXPECT_EQ(all, 0x49249249u);
              EXPECT_EQ(HostExec::countBits(all), 11);
            }),
            "");
}

TEST(HostBlock, FindsThreadsLeftBehind) {
  EXPECT_EQ(defectOf([](float *) {
              if (HostExec::thread() != 5)
                HostExec::barrier();
            }),
            "threads wait for others that do not come");
  EXPECT_EQ(defectOf([](float *) {
              if (HostExec::thread() != 5)
                HostExec::shuffleXor(0, 1);
            }),
            "threads wait for others that do not come");
}

TEST(HostBlock, FindsBankConflicts) {
  EXPECT_EQ(defectOf([](float *x) {
              const int t = HostExec::thread();
              for (int i = t; i < 256; i += 64)
                HostExec::storeShared(x + i, 0.0f);
              HostExec::barrier();
              uint32_t out[4];
              HostExec::loadMatrices(out, HostExec::address(x + t % 8 * 32));
            }),
            "the rows of a matrix share banks");
}

/// A x B for A(i, k) = i + 100 k and B the unit matrix is A.
TEST(HostExec, ProductOfKnownMatrices) {
  EXPECT_EQ(
      defectOf([](float *) {
        const int lane = HostExec::thread() % 32;
        const int row = lane / 4, column = lane % 4 * 2;
        uint32_t a[4];
        for (int i = 0; i < 4; ++i) {
          const int r = row + i % 2 * 8, c = column + i / 2 * 8;
          a[i] = HostExec::packBf16(float(r * 16 + c), float(r * 16 + c + 1));
        }
        const uint32_t unit =
            HostExec::packBf16(column == row, column + 1 == row);
        for (int right = 0; right < 2; ++right) {
          float sums[4] = {1, 1, 1, 1};
          HostExec::multiplyAdd(sums, a, right ? 0 : unit, right ? unit : 0);
          for (int e = 0; e < 4; ++e)
            EXPECT_EQ(sums[e],
                      1 + (row + e / 2 * 8) * 16 + column + e % 2 + right * 8);
        }
      }),
      "");
}
