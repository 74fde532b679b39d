//===- CommunicatorTest.cpp - collectives of every communicator -----------===//
// Conformance: written against the Communicator interface; a new communicator
// adds itself to CommunicatorWorld.
//===----------------------------------------------------------------------===//
#include "runtime/collectives/RowExchange.h"
#include "runtime/support/DType.h"
#include "test/Runtime/collectives/CommunicatorWorld.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>
#include <thread>
#include <tuple>

using namespace tessera;
using namespace fixture;

namespace {

TEST_P(Conformance, AllReduceSumsExactlyUnderRandomDelays) {
  World world = makeWorld({{"dp", 2}, {"tp", 3}});
  onRanks(world, [&](int64_t rank) {
    Delay delay(rank);
    for (int round = 0; round < 200; ++round) {
      int64_t axes = 1 + round % 3, count = 1 + (round * 37) % 500;
      std::vector<float> data(count);
      for (int64_t i = 0; i < count; ++i)
        data[i] = static_cast<float>((rank + 1) * (i + round) % 1000);
      delay();
      ASSERT_TRUE(
          world.ranks[rank]->allReduce(call(axes, count), data.data()).ok());
      for (int64_t i = 0; i < count; ++i) {
        float expected = 0;
        for (int64_t other : world.mesh.group(rank, axes))
          expected += static_cast<float>((other + 1) * (i + round) % 1000);
        ASSERT_EQ(data[i], expected) << "round " << round << " element " << i;
      }
      delay();
    }
  });
}

TEST_P(Conformance, AllReduceAddsInRankOrder) {
  World world = makeWorld({{"tp", 3}});
  // The order of three addends shows: with neighbours first, which is rank
  // order, (1e8 + 1) - 1e8 is 0; any other order gives 1.
  const float addends[] = {1e8f, 1.0f, -1e8f};
  onRanks(world, [&](int64_t rank) {
    std::vector<float> data(1000, addends[rank]);
    ASSERT_TRUE(world.ranks[rank]->allReduce(call(1, 1000), data.data()).ok());
    for (float value : data)
      ASSERT_EQ(value, (addends[0] + addends[1]) + addends[2]);
  });
}

/// A group's sum is that of its halves: what --layout-invariant builds on.
TEST_P(Conformance, AllReduceAddsNeighboursFirst) {
  World world = makeWorld({{"tp", 4}});
  // One rank after the other is 1, from either end.
  const float addends[] = {1.0f, 1e8f, -1e8f, 1.0f};
  onRanks(world, [&](int64_t rank) {
    std::vector<float> data(1000, addends[rank]);
    ASSERT_TRUE(world.ranks[rank]->allReduce(call(1, 1000), data.data()).ok());
    for (float value : data)
      ASSERT_EQ(value, (addends[0] + addends[1]) + (addends[2] + addends[3]));
  });
}

TEST_P(Conformance, Bf16AddsInF32AndRoundsOnce) {
  World world = makeWorld({{"tp", 4}});
  // 256 + 1 + 1 + 1 = 259 in f32 -> 260 in bf16 (spacing 2, ties to even);
  // rounding after every addition would stay at 256.
  onRanks(world, [&](int64_t rank) {
    std::vector<uint16_t> data(777, floatToBf16(rank == 0 ? 256.0f : 1.0f));
    ASSERT_TRUE(world.ranks[rank]
                    ->allReduce(call(1, 777, TSR_DTYPE_BF16), data.data())
                    .ok());
    for (uint16_t bits : data)
      ASSERT_EQ(bf16ToFloat(bits), 260.0f);
  });
}

template <class T> void checkMaximum(World world, int dtype) {
  onRanks(world, [&](int64_t rank) {
    std::vector<T> data(301);
    for (int i = 0; i < 301; ++i)
      data[i] = static_cast<T>(i % 3 == rank ? 50 - i : -1000);
    Collective what = call(1, 301, dtype);
    what.reduction = TSR_REDUCE_MAX;
    ASSERT_TRUE(world.ranks[rank]->allReduce(what, data.data()).ok());
    for (int i = 0; i < 301; ++i)
      ASSERT_EQ(data[i], static_cast<T>(50 - i));
  });
}
TEST_P(Conformance, MaximumOfF32) {
  checkMaximum<float>(makeWorld({{"tp", 3}}), TSR_DTYPE_F32);
}
TEST_P(Conformance, MaximumOfF64) {
  checkMaximum<double>(makeWorld({{"tp", 3}}), TSR_DTYPE_F64);
}
TEST_P(Conformance, MaximumOfI32) {
  checkMaximum<int32_t>(makeWorld({{"tp", 3}}), TSR_DTYPE_I32);
}

TEST_P(Conformance, MaximumWithNanIsNan) {
  World world = makeWorld({{"tp", 3}});
  onRanks(world, [&](int64_t rank) {
    float value = rank == 1 ? NAN : static_cast<float>(rank);
    Collective what = call(1, 1);
    what.reduction = TSR_REDUCE_MAX;
    ASSERT_TRUE(world.ranks[rank]->allReduce(what, &value).ok());
    ASSERT_TRUE(std::isnan(value));
  });
}

TEST_P(Conformance, LargeAllReduceUsesTheRanksThreads) {
  World world = makeWorld({{"tp", 2}}, 60000, 2);
  constexpr int64_t count = 1'500'001;
  onRanks(world, [&](int64_t rank) {
    std::vector<double> data(count);
    for (int64_t i = 0; i < count; ++i)
      data[i] = static_cast<double>(rank == 0 ? i : 2 * i);
    ASSERT_TRUE(world.ranks[rank]
                    ->allReduce(call(1, count, TSR_DTYPE_F64), data.data())
                    .ok());
    for (int64_t i = 0; i < count; ++i)
      ASSERT_EQ(data[i], static_cast<double>(3 * i));
  });
}

TEST_P(Conformance, AllGatherThenReduceScatterIsTimesTheGroup) {
  World world = makeWorld({{"dp", 2}, {"tp", 3}});
  onRanks(world, [&](int64_t rank) {
    Delay delay(rank);
    for (int round = 0; round < 60; ++round) {
      int64_t axes = 1 + round % 3, outer = 1 + round % 4, count = 1 + round;
      int64_t size = world.mesh.group(rank, axes).size();
      Collective what = call(axes, count, TSR_DTYPE_I32);
      what.outer = outer;
      std::vector<int32_t> own(outer * count), all(outer * size * count),
          back(outer * count, -1);
      for (size_t i = 0; i < own.size(); ++i)
        own[i] = static_cast<int32_t>(rank * 1000 + i);
      delay();
      ASSERT_TRUE(
          world.ranks[rank]->allGather(what, own.data(), all.data()).ok());
      std::vector<int64_t> group = world.mesh.group(rank, axes);
      for (int64_t o = 0; o < outer; ++o)
        for (int64_t g = 0; g < size; ++g)
          for (int64_t i = 0; i < count; ++i)
            ASSERT_EQ(all[(o * size + g) * count + i],
                      group[g] * 1000 + o * count + i);
      delay();
      ASSERT_TRUE(
          world.ranks[rank]->reduceScatter(what, all.data(), back.data()).ok());
      for (size_t i = 0; i < own.size(); ++i)
        ASSERT_EQ(back[i], own[i] * size);
    }
  });
}

/// A member of what is coalesced, and what its own call makes.
struct CoalescedPart {
  Collective call;
  std::vector<unsigned char> shard, whole, gathered, sum, alone;

  CoalescedPart(Collective what, int64_t rank, int64_t size) : call(what) {
    auto bytes = size_t(what.outer * what.count) * 8;
    shard.resize(bytes);
    for (size_t i = 0; i < bytes; ++i) // bytes of no NaN in any type
      shard[i] = static_cast<unsigned char>((rank + 3) * (i + 1) % 63);
    whole.resize(bytes * size_t(size));
    gathered = whole;
    sum.resize(bytes);
    alone.resize(bytes);
  }
};

/// Sizes, shapes and types of their own; one has nothing in it.
TEST_P(Conformance, CoalescedCallsDoWhatTheirMembersDo) {
  World world = makeWorld({{"dp", 2}, {"tp", 3}});
  onRanks(world, [&](int64_t rank) {
    Delay delay(rank);
    Communicator &own = *world.ranks[rank];
    for (int64_t round = 0; round < 30; ++round) {
      int64_t axes = 1 + round % 3;
      auto size = static_cast<int64_t>(world.mesh.group(rank, axes).size());
      std::vector<CoalescedPart> parts;
      for (auto [outer, count, dtype] :
           {std::tuple<int64_t, int64_t, int>{1, 1 + 7 * round, TSR_DTYPE_F32},
            {3, 5, TSR_DTYPE_BF16},
            {1, 0, TSR_DTYPE_F32},
            {2, 1, TSR_DTYPE_F64}}) {
        Collective what = call(axes, count, dtype);
        what.outer = outer;
        parts.emplace_back(what, rank, size);
      }
      Coalesced gather{call(axes, 100), {}}, scatter = gather;
      for (CoalescedPart &part : parts) {
        delay();
        ASSERT_TRUE(
            own.allGather(part.call, part.shard.data(), part.whole.data())
                .ok());
        ASSERT_TRUE(
            own.reduceScatter(part.call, part.whole.data(), part.alone.data())
                .ok());
        gather.members.push_back(
            {part.call, part.shard.data(), part.gathered.data()});
        scatter.members.push_back(
            {part.call, part.whole.data(), part.sum.data()});
      }
      delay();
      ASSERT_TRUE(own.allGatherCoalesced(gather).ok());
      ASSERT_TRUE(own.reduceScatterCoalesced(scatter).ok());
      for (const CoalescedPart &part : parts) {
        ASSERT_EQ(part.gathered, part.whole);
        ASSERT_EQ(part.sum, part.alone);
      }
    }
  });
}

/// Element (o, row, part, i) of member m is m 10^6 + its index, with `parts`
/// side by side inside of `rows`; both directions, there and back.
TEST_P(Conformance, AllToAllTransposesPartsAndMembers) {
  World world = makeWorld({{"dp", 2}, {"tp", 3}});
  onRanks(world, [&](int64_t rank) {
    Delay delay(rank);
    for (int round = 0; round < 40; ++round) {
      int64_t axes = 1 + round % 3, outer = 1 + round % 2;
      int64_t rows = 1 + round % 4, count = 1 + round % 5;
      std::vector<int64_t> group = world.mesh.group(rank, axes);
      auto size = static_cast<int64_t>(group.size());
      Collective what = call(axes, count, TSR_DTYPE_I32);
      what.outer = outer;
      what.rows = rows;
      what.gathersOuter = true;
      std::vector<int32_t> own(outer * rows * size * count), all(own.size()),
          back(own.size(), -1);
      for (size_t i = 0; i < own.size(); ++i)
        own[i] = static_cast<int32_t>(rank * 1000000 + i);
      delay();
      ASSERT_TRUE(
          world.ranks[rank]->allToAll(what, own.data(), all.data()).ok());
      int64_t me = std::find(group.begin(), group.end(), rank) - group.begin();
      for (int64_t o = 0; o < outer; ++o)
        for (int64_t k = 0; k < size; ++k)
          for (int64_t row = 0; row < rows; ++row)
            for (int64_t i = 0; i < count; ++i)
              ASSERT_EQ(all[((o * size + k) * rows + row) * count + i],
                        group[k] * 1000000 +
                            ((o * rows + row) * size + me) * count + i);
      what.gathersOuter = false;
      delay();
      ASSERT_TRUE(
          world.ranks[rank]->allToAll(what, all.data(), back.data()).ok());
      ASSERT_EQ(back, own);
    }
  });
}

/// Rows [4 experts, 2 tokens a member, 3] and back: of both only those whose
/// gate, on the member that gets them, is not 0.
TEST_P(Conformance, AllToAllByGatesMovesRoutedRows) {
  constexpr int64_t kTokens = 4, kExperts = 4, kRow = 3;
  World world = makeWorld({{"ep", 2}});
  auto isRouted = [](int64_t x, int64_t t) { return (x + t) % 3 != 0; };
  onRanks(world, [&](int64_t rank) {
    // Global experts and tokens of the result's first row.
    auto gates = [&](int64_t x0, int64_t experts, int64_t t0, int64_t tokens) {
      std::vector<float> made;
      for (int64_t t = t0; t < t0 + tokens; ++t)
        for (int64_t x = x0; x < x0 + experts; ++x)
          made.push_back(isRouted(x, t) ? 0.5f : 0.0f);
      return made;
    };
    std::vector<float> sent(kExperts * 2 * kRow, 7), got(sent.size(), -1),
        back(sent.size(), -1);
    Collective what = call(1, 2 * kRow, TSR_DTYPE_F32);
    what.rows = 2;
    std::vector<float> by = gates(2 * rank, 2, 0, kTokens);
    what.routing = {by.data(), 2, kTokens, kRow, false};
    ASSERT_TRUE(
        world.ranks[rank]->allToAll(what, sent.data(), got.data()).ok());
    for (size_t i = 0; i < got.size(); ++i) {
      auto row = static_cast<int64_t>(i) / kRow;
      bool moved = isRouted(2 * rank + row / kTokens, row % kTokens);
      ASSERT_EQ(got[i], moved ? 7 : 0) << i;
    }
    by = gates(0, kExperts, 2 * rank, 2);
    what.routing = {by.data(), kExperts, 2, kRow, false};
    what.gathersOuter = true;
    ASSERT_TRUE(
        world.ranks[rank]->allToAll(what, got.data(), back.data()).ok());
    for (size_t i = 0; i < back.size(); ++i) {
      auto row = static_cast<int64_t>(i) / kRow;
      ASSERT_EQ(back[i], isRouted(row / 2, 2 * rank + row % 2) ? 7 : 0) << i;
    }
  });
}

/// Compact rows hold 100 * expert + token. Experts and tokens that get none or
/// all are among them.
TEST_P(Conformance, RowsGoToExpertsAndBack) {
  constexpr int64_t kOwn = 3, kExperts = 4, kRow = 2, kRanks = 2;
  using Routes = bool (*)(int64_t x, int64_t t);
  const Routes some = [](int64_t x, int64_t t) { return (x + t) % 3 != 0; };
  const Routes first = [](int64_t x, int64_t) { return x == 0; };
  const Routes none = [](int64_t, int64_t) { return false; };
  const Routes last = [](int64_t x, int64_t t) { return x == 3 && t == 5; };
  for (Routes routed : {some, first, none, last}) {
    World world = makeWorld({{"ep", kRanks}});
    onRanks(world, [&](int64_t rank) {
      struct Side {
        std::vector<float> gates, rows;
        RowSide side;
      };
      auto make = [&](int64_t x0, int64_t experts, int64_t t0, int64_t tokens) {
        Side made;
        for (int64_t t = t0; t < t0 + tokens; ++t)
          for (int64_t x = x0; x < x0 + experts; ++x)
            made.gates.push_back(routed(x, t) ? 0.5f : 0.0f);
        for (int64_t x = x0; x < x0 + experts; ++x)
          for (int64_t t = t0; t < t0 + tokens; ++t)
            if (routed(x, t))
              made.rows.insert(made.rows.end(), kRow, float(100 * x + t));
        made.rows.resize(size_t(experts * tokens * kRow)); // the rest is zero
        made.side = {{nullptr, experts, tokens, kRow, false}, experts * tokens};
        return made;
      };
      Side own = make(0, kExperts, kOwn * rank, kOwn);
      Side all = make(2 * rank, 2, 0, kRanks * kOwn);
      own.side.routing.gates = own.gates.data();
      all.side.routing.gates = all.gates.data();
      Collective what = call(1, kRow, TSR_DTYPE_F32);
      for (auto [from, to] : {std::pair(&own, &all), std::pair(&all, &own)}) {
        RowExchange exchange;
        Status status = makeRowExchange(what, from->side, to->side, &exchange);
        ASSERT_TRUE(status.ok()) << status.message;
        std::vector<float> got(to->rows.size(), -1);
        status = world.ranks[rank]->exchangeRows(exchange, from->rows.data(),
                                                 got.data());
        ASSERT_TRUE(status.ok()) << status.message;
        ASSERT_EQ(got, to->rows);
      }
    });
  }
}

/// A rank has room for 4 rows of its experts; its own rows hold 100 * expert +
/// token. What goes to the experts in rounds comes back to its place.
TEST_P(Conformance, RowsGoToExpertsAndBackInRounds) {
  constexpr int64_t kOwn = 3, kExperts = 4, kRow = 2, kRanks = 2, kRows = 4;
  using Routes = bool (*)(int64_t x, int64_t t);
  const Routes some = [](int64_t x, int64_t t) { return (x + t) % 3 != 0; };
  const Routes first = [](int64_t x, int64_t) { return x == 0; };
  const Routes none = [](int64_t, int64_t) { return false; };
  for (Routes routed : {some, first, none}) {
    auto roundOf = [&](int64_t expert, int64_t token) {
      int64_t before = 0;
      for (int64_t x = expert / 2 * 2; x <= expert; ++x)
        for (int64_t t = 0; t < (x < expert ? kRanks * kOwn : token); ++t)
          before += routed(x, t);
      return routed(expert, token) ? float(1 + before / kRows) : 0.0f;
    };
    World world = makeWorld({{"ep", kRanks}});
    onRanks(world, [&](int64_t rank) {
      std::vector<float> own, all, sent;
      for (int64_t t = kOwn * rank; t < kOwn * (rank + 1); ++t)
        for (int64_t x = 0; x < kExperts; ++x)
          own.push_back(roundOf(x, t));
      for (int64_t t = 0; t < kRanks * kOwn; ++t)
        for (int64_t x = 2 * rank; x < 2 * rank + 2; ++x)
          all.push_back(roundOf(x, t));
      for (int64_t x = 0; x < kExperts; ++x)
        for (int64_t t = kOwn * rank; t < kOwn * (rank + 1); ++t)
          if (routed(x, t))
            sent.insert(sent.end(), kRow, float(100 * x + t));
      sent.resize(size_t(kExperts * kOwn * kRow)); // the rest is zero
      RowSide wide{{own.data(), kExperts, kOwn, kRow, false}, kExperts * kOwn};
      RowSide narrow{{all.data(), 2, kRanks * kOwn, kRow, false}, kRows};
      Collective what = call(1, kRow, TSR_DTYPE_F32);
      std::vector<float> back(sent.size(), -1), rows(kRows * kRow);
      for (int64_t round = 1; round <= 4; ++round) {
        RowExchange exchange;
        Status status = makeRowExchange(what, wide, narrow, &exchange, round);
        ASSERT_TRUE(status.ok()) << status.message;
        rows.assign(rows.size(), -1);
        status =
            world.ranks[rank]->exchangeRows(exchange, sent.data(), rows.data());
        ASSERT_TRUE(status.ok()) << status.message;
        std::vector<float> wanted;
        for (int64_t x = 2 * rank; x < 2 * rank + 2; ++x)
          for (int64_t t = 0; t < kRanks * kOwn; ++t)
            if (roundOf(x, t) == float(round))
              wanted.insert(wanted.end(), kRow, float(100 * x + t));
        wanted.resize(rows.size());
        ASSERT_EQ(rows, wanted);
        status = makeRowExchange(what, narrow, wide, &exchange, round);
        ASSERT_TRUE(status.ok()) << status.message;
        status =
            world.ranks[rank]->exchangeRows(exchange, rows.data(), back.data());
        ASSERT_TRUE(status.ok()) << status.message;
      }
      ASSERT_EQ(back, sent);
    });
  }
}

TEST(RowExchange, RefusesMoreRowsThanABufferHas) {
  const float own[] = {1, 1, 1, 0}, all[] = {1, 1, 1, 1};
  RowSide source{{own, 4, 1, 1, false}, 2}, target{{all, 2, 2, 1, false}, 4};
  RowExchange exchange;
  EXPECT_EQ(makeRowExchange(call(1, 1), source, target, &exchange).message,
            "gates route 3 rows of 1 tokens, but the buffer has 2");
  source.rows = 3;
  source.routing.experts = 0;
  EXPECT_EQ(makeRowExchange(call(1, 1), source, target, &exchange).message,
            "exchanges rows of 0 experts for rows of 2");
}

TEST_P(Conformance, BroadcastAndBarrier) {
  World world = makeWorld({{"dp", 2}, {"tp", 2}});
  std::atomic<int> before{0};
  onRanks(world, [&](int64_t rank) {
    int32_t data[2] = {static_cast<int32_t>(rank), 5};
    ASSERT_TRUE(
        world.ranks[rank]->broadcast(call(1, 2, TSR_DTYPE_I32), 1, data).ok());
    EXPECT_EQ(data[0], 2 + rank % 2); // sent by the member with dp = 1
    Delay delay(rank);
    delay();
    ++before;
    ASSERT_TRUE(world.ranks[rank]->barrier(call(3, 0)).ok());
    EXPECT_EQ(before.load(), 4);
  });
}

/// Later than a waiting rank first looks for those who are missing.
TEST_P(Conformance, LateRanksAreWaitedFor) {
  World world = makeWorld({{"tp", 3}});
  onRanks(world, [&](int64_t rank) {
    float value = 1;
    std::this_thread::sleep_for(std::chrono::milliseconds(250 * rank));
    EXPECT_TRUE(world.ranks[rank]->allReduce(call(1, 1), &value).ok());
    EXPECT_EQ(value, 3);
  });
}

TEST_P(Conformance, OthersAreWhereTheySay) {
  World world = makeWorld({{"tp", 4}});
  for (int64_t rank : {1, 2, 3})
    world.ranks[rank]->entered();
  world.ranks[1]->reached(7);
  world.ranks[2]->reached(5);
  world.ranks[2]->left();
  world.ranks[2]->entered();
  world.ranks[3]->left();
  EXPECT_EQ(world.ranks[0]->describeOthers(),
            "rank 1 is in op 7; rank 2 has not reached an op; rank 3 has left "
            "the program");
}

TEST_P(Conformance, CallsOfNothingAreLegal) {
  World world = makeWorld({{"tp", 3}});
  onRanks(world, [&](int64_t rank) {
    Communicator &own = *world.ranks[rank];
    float held = 5, all[3] = {5, 5, 5};
    Collective none = call(1, 0), noRows = call(1, 1);
    noRows.outer = 0;
    for (const Collective &what : {none, noRows}) {
      EXPECT_TRUE(own.allGather(what, &held, all).ok());
      EXPECT_TRUE(own.reduceScatter(what, all, &held).ok());
      EXPECT_TRUE(own.allToAll(what, all, all).ok());
    }
    EXPECT_TRUE(own.allReduce(none, &held).ok());
    EXPECT_TRUE(own.broadcast(none, 2, &held).ok());
    for (float value : {held, all[0], all[1], all[2]})
      EXPECT_EQ(value, 5);
  });
}

INSTANTIATE_TEST_SUITE_P(Every, Conformance, ::testing::ValuesIn(everyKind()),
                         nameOf);

} // namespace
