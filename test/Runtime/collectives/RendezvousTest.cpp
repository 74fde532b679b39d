//===- RendezvousTest.cpp - processes that find each other, or do not -----===//
#include "runtime/support/Status.h"
#include "test/Runtime/collectives/CommunicatorWorld.h"

#include <gtest/gtest.h>
#include <thread>

using namespace tessera;
using namespace fixture;

namespace {

struct Guest {
  ProcessOptions options;
  Agreement agreement;
};

/// What each guest's joining ends with.
std::vector<Status> join(const std::vector<Guest> &guests) {
  std::vector<Status> results(guests.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < guests.size(); ++i)
    threads.emplace_back([&, i] {
      try {
        joinProcesses(guests[i].options, guests[i].agreement);
      } catch (...) {
        results[i] = currentStatus();
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  return results;
}

TEST(Rendezvous, MachineIsCountedWhereItIsNotTold) {
  std::string at = freeRendezvous();
  std::vector<std::thread> threads;
  for (int64_t rank = 0; rank < 3; ++rank)
    threads.emplace_back([&, rank] {
      ProcessLinks links = joinProcesses(processOf(rank, 3, at), {});
      EXPECT_EQ(links.localRank, rank);
      EXPECT_EQ(links.localSize, 3);
      for (int64_t peer = 0; peer < 3; ++peer)
        EXPECT_EQ(bool(links.peers[peer].data), peer != rank);
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST(Rendezvous, ToldPlaceOnTheMachineIsTaken) {
  std::string at = freeRendezvous();
  std::thread other([&] { joinProcesses(processOf(1, 2, at), {}); });
  ProcessOptions options = processOf(0, 2, at);
  options.localRank = 5;
  options.localSize = 8;
  ProcessLinks links = joinProcesses(options, {});
  other.join();
  EXPECT_EQ(links.localRank, 5);
  EXPECT_EQ(links.localSize, 8);
}

TEST(Rendezvous, WhoDoesNotComeIsNamedToAll) {
  std::string at = freeRendezvous();
  Guest first{processOf(0, 4, at), {}}, second{processOf(2, 4, at), {}};
  first.options.timeout = std::chrono::milliseconds(300);
  for (const Status &status : join({first, second})) {
    EXPECT_EQ(status.code, TSR_TIMEOUT);
    EXPECT_EQ(status.message, "ranks 1 and 3 of 4 did not come to " + at +
                                  " within 300 ms; start one process for each "
                                  "rank");
  }
}

TEST(Rendezvous, NobodyListens) {
  Guest guest{processOf(1, 2, freeRendezvous()), {}};
  guest.options.timeout = std::chrono::milliseconds(200);
  Status status = join({guest})[0];
  EXPECT_EQ(status.code, TSR_TIMEOUT);
  EXPECT_NE(status.message.find("cannot reach rank 0 at 127.0.0.1:"),
            std::string::npos)
      << status.message;
  EXPECT_NE(status.message.find("Connection refused"), std::string::npos);
}

TEST(Rendezvous, DisagreementNamesBothValues) {
  std::string at = freeRendezvous();
  for (const Status &status : join({{processOf(0, 2, at), {{"seed", "1"}}},
                                    {processOf(1, 2, at), {{"seed", "2"}}}})) {
    EXPECT_EQ(status.code, TSR_MISMATCH);
    EXPECT_EQ(status.message, "rank 1 has seed \"2\", rank 0 has \"1\"; start "
                              "all processes alike");
  }
}

TEST(Rendezvous, TwoOfOneRank) {
  std::string at = freeRendezvous();
  std::vector<Status> results = join({{processOf(0, 3, at), {}},
                                      {processOf(1, 3, at), {}},
                                      {processOf(1, 3, at), {}}});
  for (const Status &status : results)
    EXPECT_EQ(status.message, "two processes say that they are rank 1; give "
                              "each its own RANK");
}

TEST(Rendezvous, StrangersAreIgnored) {
  std::string at = freeRendezvous();
  std::thread stranger([&] {
    Socket socket =
        connectTo(parseAddress(at), "rank 0",
                  std::chrono::steady_clock::now() + std::chrono::seconds(10));
    sendAll(socket, "GET / HTTP/1.1", 14,
            std::chrono::steady_clock::now() + std::chrono::seconds(1));
  });
  std::thread late([&] {
    stranger.join();
    joinProcesses(processOf(1, 2, at), {});
  });
  EXPECT_NO_THROW(joinProcesses(processOf(0, 2, at), {}));
  late.join();
}

TEST(Rendezvous, OccupiedPortIsAnError) {
  Socket taken = listenOn(0);
  Status status =
      join({{processOf(0, 2, concat("127.0.0.1:", portOf(taken))), {}}})[0];
  EXPECT_EQ(status.code, TSR_IO);
  EXPECT_EQ(status.message,
            concat("cannot listen on port ", portOf(taken),
                   ": Address already in use; choose another port for the "
                   "rendezvous"));
}

TEST(Rendezvous, AddressIsChecked) {
  for (const char *text : {"", "host", "host:", ":1", "host:0", "host:65536",
                           "host:x", "host:123456"})
    EXPECT_THROW(parseAddress(text), Error) << text;
  EXPECT_EQ(parseAddress("[::1]:29501").host, "::1");
  EXPECT_EQ(parseAddress("node0:29501").text(), "node0:29501");
}

TEST(Rendezvous, OptionsAreChecked) {
  ProcessOptions options = processOf(2, 2, "a:1");
  EXPECT_THROW(checkProcessOptions(options), Error);
  options = processOf(0, 2, "");
  EXPECT_THROW(checkProcessOptions(options), Error);
  options = processOf(0, 2, "a:1");
  options.localSize = 2;
  options.localRank = 2;
  EXPECT_THROW(checkProcessOptions(options), Error);
}

} // namespace
