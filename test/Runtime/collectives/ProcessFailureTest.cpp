//===- ProcessFailureTest.cpp - what is said of processes that are late ---===//
#include "runtime/collectives/process/TcpCommunicator.h"
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

TEST(ProcessFailure, ProcessThatEndsIsNamedWithTheAxis) {
  std::string at = freeRendezvous();
  std::thread killed([&] {
    ProcessLinks links = joinProcesses(processOf(1, 2, at), {});
    char byte; // of rank 0's call: it waits now
    receiveAll(links.peers[0].data, &byte, 1,
               std::chrono::steady_clock::now() + std::chrono::seconds(20));
  });
  ProcessWorldOptions options;
  options.mesh.axes = {{"tp", 2}};
  options.describeOp = [](int64_t op) { return concat("op ", op); };
  TcpCommunicator rank(std::make_shared<ProcessWorld>(
                           joinProcesses(processOf(0, 2, at), {}), options),
                       1);
  EXPECT_EQ(messageOf(rank, 6, 1),
            "the process of rank 1 has ended (killed, or crashed), rank 0 was "
            "in op 6 over axis 'tp'");
  killed.join();
}

} // namespace
