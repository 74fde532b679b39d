//===- ProcessFailureTest.cpp - what is said of processes that are late ---===//
#include "runtime/collectives/process/ProcessCommunicator.h"
#include "test/Runtime/collectives/CommunicatorWorld.h"

#include <atomic>

using namespace tessera;
using namespace fixture;

namespace {

constexpr int64_t dp = 1, tp = 2; // axes of the mesh dp=2,tp=2

std::string messageOf(Communicator &rank, int64_t op, int64_t axes) {
  float value = 1;
  Collective what = call(axes, 1);
  what.op = op;
  rank.reached(op);
  return rank.allReduce(what, &value).message;
}

TEST(ProcessFailure, ChainOfWaitingRanksIsFollowedToItsEnd) {
  WorldSettings settings{{{"dp", 2}, {"tp", 2}}};
  settings.firstTimeoutMs = 1000;
  World world(Kind::Tcp, settings);
  std::atomic<int> waiting{0};
  onRanks(world, [&](int64_t rank) {
    Communicator &own = *world.ranks[rank];
    if (rank == 3) // the only one to blame
      return own.reached(7);
    if (rank > 0) {
      ++waiting;
      messageOf(own, 5, rank == 1 ? dp : tp);
      return;
    }
    while (waiting < 2)
      std::this_thread::yield();
    EXPECT_EQ(messageOf(own, 6, tp),
              "all_reduce of op 6 over axis 'tp' did not finish within 1000 "
              "ms: rank 1 is missing, it is in op 5 over axis 'dp', where it "
              "waits for rank 3, which is in op 7; rank 0 has arrived");
  });
}

TEST(ProcessFailure, ProcessThatSavesIsWaitedFor) {
  WorldSettings settings{{{"dp", 2}, {"tp", 2}}};
  settings.timeoutMs = 2000;
  World world(Kind::Tcp, settings);
  onRanks(world, [&](int64_t rank) {
    Communicator &own = *world.ranks[rank];
    if (rank == 0) {
      own.worksOnFiles(true);
      std::this_thread::sleep_for(std::chrono::milliseconds(3500));
      own.worksOnFiles(false);
    }
    EXPECT_EQ(messageOf(own, 6, dp | tp), "");
  });
}

TEST(ProcessFailure, SavingHasALimitOfItsOwn) {
  WorldSettings settings{{{"tp", 2}}};
  settings.timeoutMs = 2000;
  settings.saveTimeoutMs = 2500;
  World world(Kind::Tcp, settings);
  world.ranks[0]->worksOnFiles(true);
  EXPECT_EQ(messageOf(*world.ranks[1], 6, 1),
            "all_reduce of op 6 over axis 'tp' did not finish within 2500 ms "
            "of work on files: rank 0 is missing, it has not reached an op; "
            "rank 1 has arrived");
}

TEST(ProcessFailure, RankThatWaitsForTheOneThatAsks) {
  WorldSettings settings{{{"tp", 2}}};
  settings.firstTimeoutMs = 1000;
  World world(Kind::Tcp, settings);
  std::atomic<bool> waiting{false};
  onRanks(world, [&](int64_t rank) {
    float value = 1;
    if (rank == 1) {
      waiting = true;
      auto background = world.ranks[1]->forLane(Lane::Background);
      EXPECT_NE(background->receive({5, 0, 4}, &value).code, TSR_OK);
      return;
    }
    while (!waiting)
      std::this_thread::yield();
    EXPECT_EQ(messageOf(*world.ranks[0], 6, 1),
              "all_reduce of op 6 over axis 'tp' did not finish within 1000 "
              "ms: rank 1 is missing, it has not reached an op, where it waits "
              "for rank 0; rank 0 has arrived");
  });
}

/// Rank 3 waits for 4 and 5, and 4 arrives.
TEST(ProcessFailure, RankWaitsForWhoHasNotArrived) {
  WorldSettings settings{{{"dp", 2}, {"tp", 3}}};
  settings.firstTimeoutMs = 1000;
  World world(Kind::Tcp, settings);
  onRanks(world, [&](int64_t rank) {
    Communicator &own = *world.ranks[rank];
    if (rank == 3 || rank == 4)
      messageOf(own, 5, tp);
    if (rank == 5)
      own.reached(7);
    if (rank != 0)
      return;
    EXPECT_EQ(messageOf(own, 6, dp),
              "all_reduce of op 6 over axis 'dp' did not finish within 1000 "
              "ms: rank 3 is missing, it is in op 5 over axis 'tp', where it "
              "waits for rank 5, which is in op 7; rank 0 has arrived");
  });
}

/// A rank that says it has left is waited for while a frame of it is on the way
/// here, in the lane of the frame.
TEST(ProcessWorld, HasNotLeftBeforeItsFramesAreHere) {
  std::string at = freeRendezvous();
  ProcessWorldOptions options[2];
  for (int64_t rank : {0, 1}) {
    options[rank].rank = rank;
    options[rank].mesh.axes = {{"tp", 2}};
    options[rank].describeOp = [](int64_t op) { return concat("op ", op); };
  }
  std::unique_ptr<ProcessWorld> own, peer;
  std::thread other([&] {
    peer = std::make_unique<ProcessWorld>(
        joinProcesses(processOf(1, 2, at), {}), options[1]);
  });
  own = std::make_unique<ProcessWorld>(joinProcesses(processOf(0, 2, at), {}),
                                       options[0]);
  other.join();
  own->entered();
  peer->entered();
  EXPECT_FALSE(own->hasLeft(1, Lane::Program)) << "it has said nothing";
  for (Lane lane : {Lane::Program, Lane::Background, Lane::Background})
    peer->countSent(0, lane, 0);
  own->describeWait(1, Lane::Program); // asks, and waits for the answer
  EXPECT_FALSE(own->hasLeft(1, Lane::Program)) << "it is inside";
  peer->left();
  own->describeWait(1, Lane::Program);
  EXPECT_FALSE(own->hasLeft(1, Lane::Program));
  own->countReceived(1, Lane::Program);
  EXPECT_TRUE(own->hasLeft(1, Lane::Program));
  own->countReceived(1, Lane::Background);
  EXPECT_FALSE(own->hasLeft(1, Lane::Background));
  own->countReceived(1, Lane::Background);
  EXPECT_TRUE(own->hasLeft(1, Lane::Background));
  own->entered(); // a round that the peer has not begun
  EXPECT_FALSE(own->hasLeft(1, Lane::Program));
  std::thread end([&] { peer.reset(); }); // each waits for the other's goodbye
  own.reset();
  end.join();
}

/// Returns the message of rank `own` of two when the other one ends while it
/// waits for it.
std::string messageWhenPeerEnds(int64_t own, Lane lane) {
  std::string at = freeRendezvous();
  std::thread killed([&] {
    ProcessLinks links = joinProcesses(processOf(1 - own, 2, at), {});
    ProcessLink &link = links.peers[own];
    char byte; // it waits now, as a byte of the call has come
    receiveAll(lane == Lane::Program ? link.data : link.background, &byte, 1,
               std::chrono::steady_clock::now() + std::chrono::seconds(20));
  });
  ProcessWorldOptions options;
  options.rank = own;
  options.mesh.axes = {{"tp", 2}};
  options.describeOp = [](int64_t op) { return concat("op ", op); };
  ProcessCommunicator rank(
      std::make_shared<ProcessWorld>(joinProcesses(processOf(own, 2, at), {}),
                                     options),
      1, lane);
  std::string message = messageOf(rank, 6, 1);
  killed.join();
  return message;
}

TEST(ProcessFailure, ProcessThatEndsIsNamedWithTheAxis) {
  EXPECT_EQ(messageWhenPeerEnds(0, Lane::Program),
            "the process of rank 1 has ended (killed, or crashed), or its "
            "connection broke; rank 0 was "
            "in op 6 over axis 'tp'");
  EXPECT_EQ(messageWhenPeerEnds(1, Lane::Program),
            "the process of rank 0 has ended (killed, or crashed), or its "
            "connection broke; rank 1 was "
            "in op 6 over axis 'tp'");
  EXPECT_EQ(messageWhenPeerEnds(1, Lane::Background),
            "the process of rank 0 has ended (killed, or crashed), or its "
            "connection broke; rank 1 was "
            "between two steps, and in the background in op 6 over axis 'tp'");
}

} // namespace
