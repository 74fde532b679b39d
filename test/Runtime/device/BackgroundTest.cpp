//===- BackgroundTest.cpp - collectives and messages beside the program ---===//
// A started call has the result of a blocking one, whatever the program does
// meanwhile, also over the same groups; failures reach the waits and name the
// op that is pending.
//===----------------------------------------------------------------------===//
#include "runtime/device/Background.h"
#include "runtime/collectives/thread/ThreadCommunicator.h"

#include <gtest/gtest.h>
#include <random>
#include <thread>

using namespace tessera;

namespace {

struct Place {
  std::unique_ptr<Communicator> communicator;
  std::unique_ptr<Background> background;
};

struct World {
  std::shared_ptr<ThreadWorld> shared;
  std::vector<Place> ranks;
};

World makeWorld(std::vector<Axis> axes, int timeoutMs = 60000) {
  ThreadWorldOptions options;
  options.mesh.axes = std::move(axes);
  options.timeout = std::chrono::milliseconds(timeoutMs);
  options.describeOp = [](int64_t op) { return concat("op ", op); };
  World world{std::make_shared<ThreadWorld>(options), {}};
  for (int64_t rank = 0; rank < options.mesh.ranks(); ++rank)
    world.ranks.push_back(
        {std::make_unique<ThreadCommunicator>(world.shared, rank),
         std::make_unique<Background>(std::make_unique<ThreadCommunicator>(
                                          world.shared, rank, Lane::Background),
                                      rank)});
  return world;
}

template <class Body> void onRanks(World &world, const Body &body) {
  std::vector<std::thread> threads;
  for (size_t rank = 0; rank < world.ranks.size(); ++rank)
    threads.emplace_back(
        [&, rank] { body(static_cast<int64_t>(rank), world.ranks[rank]); });
  for (std::thread &thread : threads)
    thread.join();
}

Collective call(int64_t op, int64_t axes, int64_t count) {
  Collective result;
  result.op = op;
  result.axes = axes;
  result.count = count;
  return result;
}

Background::Job sum(int64_t op, int64_t axes, std::vector<float> &data) {
  return [=, &data](Communicator &communicator) {
    return communicator.allReduce(
        call(op, axes, static_cast<int64_t>(data.size())), data.data());
  };
}

TEST(Background, SumsWhileTheProgramSumsOverTheSameGroups) {
  World world = makeWorld({{"dp", 2}, {"tp", 2}});
  onRanks(world, [&](int64_t rank, Place &place) {
    std::mt19937 random(static_cast<unsigned>(rank));
    for (int round = 0; round < 100; ++round) {
      std::vector<float> a(300, 1.0f + rank), b(5000, 10.0f), own(7, 100.0f);
      int64_t axes = 1 + round % 3;
      place.background->start(1, a.data(), sum(1, axes, a), nullptr);
      place.background->start(2, b.data(), sum(2, 3, b), nullptr);
      if (random() % 4 == 0)
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 200));
      ASSERT_TRUE(
          place.communicator->allReduce(call(3, axes, 7), own.data()).ok());
      ASSERT_TRUE(place.background->wait(b.data()).ok());
      ASSERT_TRUE(place.background->wait(a.data()).ok());
      float wanted = axes == 1   ? 2.0f + 2 * (rank % 2) + 2
                     : axes == 2 ? 4.0f * (rank / 2) + 3
                                 : 10.0f;
      ASSERT_EQ(a, std::vector<float>(300, wanted)) << "axes " << axes;
      ASSERT_EQ(b, std::vector<float>(5000, 40.0f));
      ASSERT_EQ(own, std::vector<float>(7, axes == 3 ? 400.0f : 200.0f));
    }
  });
}

/// The ranks start two messages in opposite order; the program waits at the
/// end.
TEST(Background, MessagesPassBesideTheProgram) {
  World world = makeWorld({{"pp", 2}});
  onRanks(world, [&](int64_t rank, Place &place) {
    for (int round = 0; round < 100; ++round) {
      std::vector<float> out(3000, 1.0f + rank), in(3000, 0.0f);
      Message message{1, 1 - rank, 12000};
      auto send = [&](Communicator &c) { return c.send(message, out.data()); };
      auto receive = [&](Communicator &c) {
        return c.receive(message, in.data());
      };
      if (rank == 0)
        place.background->start(1, out.data(), send, nullptr);
      place.background->start(2, in.data(), receive, nullptr);
      if (rank == 1)
        place.background->start(1, out.data(), send, nullptr);
      ASSERT_TRUE(place.background->wait(in.data()).ok());
      ASSERT_TRUE(place.background->wait(out.data()).ok());
      ASSERT_EQ(in, std::vector<float>(3000, 2.0f - rank));
    }
  });
}

TEST(Background, AMissingRankIsNamedWithTheOpThatIsPending) {
  World world = makeWorld({{"tp", 2}}, 100);
  onRanks(world, [&](int64_t rank, Place &place) {
    std::vector<float> data(8, 1.0f);
    place.communicator->reached(7);
    if (rank == 1)
      return; // never starts it
    place.background->start(5, data.data(), sum(5, 1, data), nullptr);
    Status status = place.background->wait(data.data());
    EXPECT_EQ(status.code, TSR_TIMEOUT);
    EXPECT_EQ(status.message,
              "all_reduce of op 5 over axis 'tp' did not finish within 100 ms: "
              "rank 1 is missing, it is in op 7; rank 0 has arrived");
  });
}

TEST(Background, AnAbortReachesWhatIsPending) {
  World world = makeWorld({{"tp", 2}});
  onRanks(world, [&](int64_t rank, Place &place) {
    std::vector<float> a(8, 1.0f), b(8, 1.0f);
    if (rank == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      return place.communicator->abort({TSR_OUT_OF_MEMORY, "no more"});
    }
    place.background->start(1, a.data(), sum(1, 1, a), nullptr);
    place.background->start(2, b.data(), sum(2, 1, b), nullptr);
    Status status = place.background->wait(b.data());
    EXPECT_EQ(status.code, TSR_OUT_OF_MEMORY);
    place.background->drain();
  });
}

TEST(Background, ARankThatLeftIsNotWaitedFor) {
  World world = makeWorld({{"tp", 2}});
  onRanks(world, [&](int64_t rank, Place &place) {
    std::vector<float> data(8, 1.0f);
    if (rank == 1)
      return place.communicator->left();
    place.background->start(5, data.data(), sum(5, 1, data), nullptr);
    Status status = place.background->wait(data.data());
    EXPECT_EQ(status.message,
              "all_reduce of op 5 over axis 'tp' cannot finish: rank 1 is "
              "missing, it has left the program; rank 0 has arrived");
  });
}

TEST(Background, WaitingForNothingIsAnError) {
  World world = makeWorld({{"tp", 1}});
  int something = 0;
  EXPECT_EQ(world.ranks[0].background->wait(&something).code, TSR_INTERNAL);
}

TEST(Background, NotesWhenEachJobRan) {
  World world = makeWorld({{"tp", 1}});
  OpTrace trace;
  std::vector<float> data(8, 1.0f);
  for (int64_t op : {4, 5}) {
    world.ranks[0].background->start(op, data.data(), sum(op, 1, data), &trace);
    EXPECT_TRUE(world.ranks[0].background->wait(data.data()).ok());
  }
  ASSERT_EQ(trace.events.size(), 2u);
  EXPECT_EQ(trace.events[0].op, 4);
  EXPECT_LE(trace.events[0].begin, trace.events[0].end);
  EXPECT_LE(trace.events[0].end, trace.events[1].begin);
}

} // namespace
