//===- MessageTest.cpp - messages, and what is made of them ---------------===//
// Shifts round a ring and zigzags, of every communicator; also as the base
// class makes them of messages.
//===----------------------------------------------------------------------===//
#include "runtime/support/DType.h"
#include "test/Runtime/collectives/CommunicatorWorld.h"

#include <numeric>

using namespace tessera;
using namespace fixture;

namespace {

class MessageTest : public Conformance {
protected:
  void expectRings(int64_t ranks, int64_t distance);
};

TEST_P(MessageTest, MessagesArriveInOrder) {
  World world = makeWorld({{"pp", 3}});
  onRanks(world, [&](int64_t rank) {
    Delay delay(rank);
    for (int64_t i = 0; i < 100; ++i) {
      int64_t value = rank == 0 ? i * i : -1;
      Communicator &own = *world.ranks[rank];
      delay();
      if (rank > 0)
        ASSERT_TRUE(own.receive({1, rank - 1, 8}, &value).ok());
      ASSERT_EQ(value, i * i);
      if (rank < 2)
        ASSERT_TRUE(own.send({1, rank + 1, 8}, &value).ok());
    }
  });
}

/// A communicator with no shift or zigzag of its own.
class Messages final : public Communicator {
public:
  explicit Messages(Communicator &own) : own(own) {}
  Status send(const Message &message, const void *data) override {
    return own.send(message, data);
  }
  Status receive(const Message &message, void *data) override {
    return own.receive(message, data);
  }
  Status allReduce(const Collective &, void *) override { return none(); }
  Status allGather(const Collective &, const void *, void *) override {
    return none();
  }
  Status reduceScatter(const Collective &, const void *, void *) override {
    return none();
  }
  Status allToAll(const Collective &, const void *, void *) override {
    return none();
  }
  Status exchangeRows(const RowExchange &, const void *, void *) override {
    return none();
  }
  Status broadcast(const Collective &, int64_t, void *) override {
    return none();
  }
  Status barrier(const Collective &) override { return none(); }
  void abort(const Status &status) override { own.abort(status); }
  Status failure() const override { return own.failure(); }
  bool failed() const override { return own.failed(); }
  void reached(int64_t op) override { own.reached(op); }
  void entered() override { own.entered(); }
  void left() override { own.left(); }
  std::unique_ptr<Communicator> forLane(Lane lane) override {
    return own.forLane(lane);
  }
  std::string describeOthers() override { return own.describeOthers(); }

private:
  static Status none() { return {TSR_UNSUPPORTED, "not a message"}; }
  Communicator &own;
};

/// Expects that everything is back after as many shifts as ranks, after one
/// round or some.
void expectRing(Communicator &own, Shift shift, int64_t rank, int64_t ranks) {
  Delay delay(rank);
  for (int64_t count : {1, 65, 3000}) {
    shift.call.count = count;
    std::vector<int32_t> held(count, static_cast<int32_t>(rank)), next(count);
    for (int64_t step = 1; step <= ranks; ++step) {
      delay();
      ASSERT_TRUE(own.shift(shift, held.data(), next.data()).ok());
      held.swap(next);
      int64_t behind = step * shift.distance % ranks;
      auto from = static_cast<int32_t>((rank + ranks - behind) % ranks);
      ASSERT_EQ(held, std::vector<int32_t>(count, from));
    }
  }
}

void MessageTest::expectRings(int64_t ranks, int64_t distance) {
  World world = makeWorld({{"cp", ranks}});
  onRanks(world, [&](int64_t rank) {
    Shift shift{call(1, 0, TSR_DTYPE_I32), (rank + distance) % ranks,
                (rank + ranks - distance) % ranks,
                rank / std::gcd(distance, ranks) % 2 == 0, distance};
    expectRing(*world.ranks[rank], shift, rank, ranks);
    Messages messages(*world.ranks[rank]);
    expectRing(messages, shift, rank, ranks);
  });
}

TEST_P(MessageTest, ShiftsGoRoundTheRing) {
  for (int64_t ranks : {2, 3, 4, 5, 6})
    for (int64_t distance = 1; distance < ranks; ++distance)
      expectRings(ranks, distance);
}

/// Element (row, chunk, i) is 1000 chunk + 100 row + i: rank r has chunks 2 r
/// and 2 r + 1 in its slice, r and 2 n - 1 - r behind a zigzag; and back.
void expectZigzag(Communicator &own, Zigzag zigzag, int64_t outer) {
  int64_t count = zigzag.call.count = 3 + 40 * outer, r = zigzag.member;
  zigzag.call.outer = outer;
  std::vector<int32_t> slice, back(outer * 2 * count, -1),
      chunks[2] = {std::vector<int32_t>(outer * count, -1),
                   std::vector<int32_t>(outer * count, -1)};
  auto element = [](int64_t row, int64_t chunk, int64_t i) {
    return static_cast<int32_t>(1000 * chunk + 100 * row + i);
  };
  for (int64_t k = 0; k < outer * 2 * count; ++k)
    slice.push_back(element(k / count / 2, 2 * r + k / count % 2, k % count));
  ASSERT_TRUE(
      own.zigzag(zigzag, {slice.data(), chunks[0].data(), chunks[1].data()})
          .ok());
  for (int64_t late : {0, 1})
    for (int64_t k = 0; k < outer * count; ++k)
      ASSERT_EQ(
          chunks[late][k],
          element(k / count, late ? 2 * zigzag.size() - 1 - r : r, k % count));
  zigzag.makesWhole = true;
  ASSERT_TRUE(
      own.zigzag(zigzag, {back.data(), chunks[0].data(), chunks[1].data()})
          .ok());
  ASSERT_EQ(back, slice);
}

TEST_P(MessageTest, ZigzagPairsEarlyAndLateChunks) {
  for (const auto &[ranks, others] :
       {std::pair<int64_t, int64_t>{2, 2}, {3, 1}, {4, 1}, {5, 1}}) {
    World world = makeWorld({{"cp", ranks}, {"tp", others}});
    onRanks(world, [&, others = others](int64_t rank) {
      Delay delay(rank);
      Zigzag zigzag{call(1, 0, TSR_DTYPE_I32), world.mesh.group(rank, 1),
                    rank / others, false};
      Messages messages(*world.ranks[rank]);
      for (int64_t outer : {1, 5}) {
        delay();
        expectZigzag(*world.ranks[rank], zigzag, outer);
        expectZigzag(messages, zigzag, outer);
      }
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Every, MessageTest, ::testing::ValuesIn(everyKind()),
                         nameOf);

} // namespace
