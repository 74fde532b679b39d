//===- RendezvousTest.cpp - processes that find each other, or do not -----===//
#include "test/Runtime/collectives/Strangers.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

using namespace tessera;
using namespace fixture;

namespace {

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
  withEnoughTime([](std::chrono::milliseconds time) {
    std::string at = freeRendezvous();
    ProcessOptions first = processOf(0, 4, at), second = processOf(2, 4, at);
    first.timeout = time;
    second.timeout = time;
    std::vector<Status> results = joinAll({first, second});
    if (results[0].message.find("ranks 1 and 3") == std::string::npos)
      return false;
    for (const Status &status : results) {
      EXPECT_EQ(status.code, TSR_TIMEOUT);
      EXPECT_EQ(status.message,
                concat("ranks 1 and 3 of 4 did not come to ", at, " within ",
                       time.count(),
                       " ms; start one process for each rank; one that was "
                       "started has ended, or cannot reach this address: its "
                       "output says why"));
    }
    return true;
  });
}

/// Later than anybody looks whether a process has ended.
TEST(Rendezvous, LateProcessesAreWaitedFor) {
  std::string at = freeRendezvous();
  std::vector<std::thread> threads;
  for (int64_t rank = 0; rank < 3; ++rank)
    threads.emplace_back([&, rank] {
      std::this_thread::sleep_for(std::chrono::milliseconds(300 * rank));
      EXPECT_NO_THROW(joinProcesses(processOf(rank, 3, at), {}));
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST(Rendezvous, NobodyListens) {
  ProcessOptions guest = processOf(1, 2, freeRendezvous());
  guest.timeout = std::chrono::milliseconds(200);
  Status status = joinAs(guest);
  EXPECT_EQ(status.code, TSR_TIMEOUT);
  EXPECT_NE(status.message.find("cannot reach rank 0 at 127.0.0.1:"),
            std::string::npos)
      << status.message;
  EXPECT_NE(status.message.find("Connection refused"), std::string::npos);
}

/// Rank 1 gets the table and ends, or never listened.
TEST(Rendezvous, ProcessThatEndsWithTheTableIsNamedAtOnce) {
  std::string at = freeRendezvous();
  std::thread guest([&] {
    Socket socket = acquaintance(at, "");
    sendText(socket, helloOf(1, 2), soon());
    receiveText(socket, longestTable, soon());
  });
  ProcessOptions first = processOf(0, 2, at);
  first.timeout = std::chrono::minutes(10);
  Status status = joinAs(first);
  guest.join();
  EXPECT_EQ(status.message, "the process of rank 1 has ended before all were "
                            "connected; its output says why");
}

/// Rank 1 connects, between others that say they were of it.
TEST(Rendezvous, ConnectionsOfOtherRunsAreRefused) {
  std::string at = freeRendezvous();
  std::thread guest([&] {
    Socket hub = acquaintance(at, "");
    sendText(hub, helloOf(1, 2), soon());
    uint64_t cookie =
        readTable(receiveText(hub, longestTable, soon()), 2).cookie;
    std::vector<Socket> sockets;
    auto greet = [&](const Greeting &greeting) {
      sockets.push_back(acquaintance(at, ""));
      sendText(sockets.back(), writeGreeting(greeting), soon());
    };
    for (const Greeting &other : {Greeting{cookie + 1, 1, 0},
                                  {cookie, 0, 0},
                                  {cookie, 2, 0},
                                  {cookie, 1, -1},
                                  {cookie, 1, 3}})
      greet(other);
    for (int64_t purpose : {0, 1, 2}) {
      greet({cookie, 1, purpose});
      char byte = static_cast<char>('a' + purpose);
      sendAll(sockets.back(), &byte, 1, soon());
      if (purpose < 2) // after the last one nobody is received
        greet({cookie, 1, 0});
    }
    char byte;
    receiveAll(hub, &byte, 1, soon()); // rank 0 has all it needs
  });
  ProcessLinks links = joinProcesses(processOf(0, 2, at), {});
  const ProcessLink &link = links.peers[1];
  std::string bytes(3, ' ');
  receiveAll(link.data, &bytes[0], 1, soon());
  receiveAll(link.background, &bytes[1], 1, soon());
  receiveAll(link.control, &bytes[2], 1, soon());
  EXPECT_EQ(bytes, "abc");
  guest.join();
}

TEST(Rendezvous, AnswersOfAStrangerAreChecked) {
  for (const char *text :
       {"", "[]", "{\"cookie\":1}", "{\"cookie\":-1,\"processes\":[]}",
        "{\"error\":1,\"code\":1}", "{\"error\":\"x\",\"code\":99}",
        "{\"cookie\":1,\"processes\":[{}]}",
        "{\"cookie\":1,\"processes\":[{\"host\":\"\",\"port\":0,"
        "\"machine\":\"\"}]}",
        "{\"cookie\":1,\"processes\":[]}"})
    try {
      readTable(text, 1);
      ADD_FAILURE() << text;
    } catch (const Error &error) {
      EXPECT_EQ(error.status.code, TSR_CORRUPT) << text;
    }
}

TEST(Rendezvous, ListensWhereItIsNamedAndNowhereElse) {
  std::vector<Socket> listeners = listenOn({"127.0.0.1", 0});
  ASSERT_EQ(listeners.size(), 1u);
  EXPECT_EQ(ownHost(listeners[0]), "127.0.0.1");
  std::string at = freeRendezvous();
  std::thread other([&] {
    ProcessLinks links = joinProcesses(processOf(1, 2, at), {});
    for (const Socket *socket : {&links.peers[0].data, &links.peers[0].control})
      EXPECT_EQ(peerHost(*socket), "127.0.0.1");
  });
  // The same port is free on another address of the machine.
  std::vector<Socket> neighbour =
      listenOn({"127.0.0.2", parseAddress(at).port});
  ProcessLinks links = joinProcesses(processOf(0, 2, at), {});
  other.join();
  EXPECT_EQ(ownHost(links.peers[1].data), "127.0.0.1");
}

TEST(Rendezvous, AddressOfAnotherHostIsRefused) {
  ProcessOptions options = processOf(0, 2, "192.0.2.1:4000");
  options.trustsNetwork = true;
  EXPECT_EQ(joinAs(options).message,
            "cannot listen on 192.0.2.1:4000: Cannot assign requested address; "
            "rank 0 must run on the host that the rendezvous names");
}

TEST(Rendezvous, OccupiedPortIsAnError) {
  std::vector<Socket> taken = listenOn({"127.0.0.1", 0});
  std::string at = concat("127.0.0.1:", portOf(taken[0]));
  Status status = joinAs(processOf(0, 2, at));
  EXPECT_EQ(status.code, TSR_IO);
  EXPECT_EQ(status.message,
            concat("cannot listen on ", at,
                   ": Address already in use; choose another port for the "
                   "rendezvous"));
}

/// No name has a part of more than 63 letters, so that nobody is asked for it.
TEST(Rendezvous, UnknownHostIsNoMatterOfPorts) {
  std::string host(70, 'x');
  for (int64_t rank : {0, 1}) {
    ProcessOptions options = processOf(rank, 2, host + ":4000");
    options.timeout = std::chrono::milliseconds(1);
    std::string message = joinAs(options).message;
    EXPECT_EQ(message.find(concat(rank == 0 ? "cannot listen on "
                                            : "cannot reach rank 0 at ",
                                  host, ":4000: the host name '", host,
                                  "' does not resolve (")),
              0u)
        << message;
    EXPECT_NE(message.find("); set MASTER_ADDR or --rendezvous to a name that "
                           "every host resolves, or to an address"),
              std::string::npos)
        << message;
    EXPECT_EQ(message.find("port"), std::string::npos) << message;
  }
}

TEST(Rendezvous, NameThatIsWaitedForIsTold) {
  withEnoughTime([](std::chrono::milliseconds time) {
    std::string host(70, 'x');
    ProcessOptions options = processOf(0, 2, host + ":4000");
    Notes notes;
    options.timeout = time;
    options.note = notes.taker();
    EXPECT_EQ(joinAs(options).code, TSR_IO);
    return notes.all() == concat("the host name '", host,
                                 "' of the rendezvous does not resolve yet; it "
                                 "is looked up again for 30 seconds\n");
  });
}

/// Closes with a reset, after which the system has no address of this side.
void reset(Socket socket) {
  linger now{1, 0};
  setsockopt(socket.get(), SOL_SOCKET, SO_LINGER, &now, sizeof now);
}

std::string receiveFails(const Socket &socket) {
  try {
    char byte;
    receiveAll(socket, &byte, 1, soon());
  } catch (const Error &error) {
    return error.status.message;
  }
  return "";
}

TEST(Rendezvous, BrokenConnectionIsOfSomebody) {
  std::vector<Socket> doors = listenOn({"127.0.0.1", 0});
  Address at{"127.0.0.1", portOf(doors[0])};
  Socket caller = connectTo(at, "rank 7", soon());
  Socket called = acceptFrom(doors[0], soon());
  reset(std::move(caller));
  EXPECT_EQ(receiveFails(called), "the connection to 127.0.0.1 broke: "
                                  "Connection reset by peer");
  EXPECT_EQ(peerHost(called), "127.0.0.1");

  caller = connectTo(at, "rank 7", soon());
  reset(acceptFrom(doors[0], soon()));
  EXPECT_EQ(receiveFails(caller), "the connection to rank 7 at 127.0.0.1 "
                                  "broke: Connection reset by peer");

  // The caller has gone before it is taken.
  caller = connectTo(at, "rank 7", soon());
  reset(std::move(caller));
  if (Socket late = acceptFrom(doors[0], soon())) {
    EXPECT_EQ(peerName(late), "127.0.0.1");
  }
  EXPECT_EQ(peerName(Socket()), "an unknown address");
}

TEST(Rendezvous, TooManyFilesAreNoMatterOfPorts) {
  std::vector<Socket> doors = listenOn({"127.0.0.1", 0});
  Address at{"127.0.0.1", portOf(doors[0])};
  rlimit limit;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  // A descriptor must be below the limit, and the lowest that is free is taken.
  int free = dup(0);
  close(free);
  rlimit few = {static_cast<rlim_t>(free), limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  std::string connecting, listening;
  try {
    connectTo(at, "rank 7", Deadline::max());
  } catch (const Error &error) {
    connecting = error.status.message;
  }
  try {
    listenOn({"127.0.0.1", 0});
  } catch (const Error &error) {
    listening = error.status.message;
  }
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_EQ(connecting, concat("cannot reach rank 7 at ", at.text(),
                               ": Too many open files; raise the limit of open "
                               "files (ulimit -n)"));
  EXPECT_EQ(listening, "cannot listen on 127.0.0.1:0: Too many open files; "
                       "raise the limit of open files (ulimit -n)");
}

TEST(Rendezvous, AddressIsChecked) {
  for (const char *text : {"", "host", "host:", ":1", "host:0", "host:65536",
                           "host:x", "host:123456", "[]:1"})
    EXPECT_THROW(parseAddress(text), Error) << text;
  EXPECT_EQ(parseAddress("[::1]:29501").host, "::1");
  EXPECT_EQ(parseAddress("node0:29501").text(), "node0:29501");
}

TEST(Rendezvous, OptionsAreChecked) {
  using Change = void (*)(ProcessOptions &);
  auto check = [](Change change) {
    ProcessOptions options = processOf(1, 2, "a:1");
    change(options);
    checkProcessOptions(options);
  };
  for (Change legal :
       {Change([](ProcessOptions &) {}),
        Change([](ProcessOptions &o) { o.rank = 0; }),
        Change([](ProcessOptions &o) { o.localRank = 7; }),
        Change([](ProcessOptions &o) { o.localSize = 2, o.localRank = 1; }),
        Change([](ProcessOptions &o) {
          o.timeout = std::chrono::milliseconds(0);
        })})
    EXPECT_NO_THROW(check(legal));
  for (Change illegal :
       {Change([](ProcessOptions &o) { o.rank = 2; }),
        Change([](ProcessOptions &o) { o.rank = -1; }),
        Change([](ProcessOptions &o) { o.rank = o.worldSize = 0; }),
        Change([](ProcessOptions &o) { o.rendezvous = ""; }),
        Change([](ProcessOptions &o) { o.localRank = -1; }),
        Change([](ProcessOptions &o) { o.localSize = -1; }),
        Change([](ProcessOptions &o) { o.localSize = o.localRank = 2; }),
        Change([](ProcessOptions &o) {
          o.timeout = std::chrono::milliseconds(-1);
        })})
    EXPECT_THROW(check(illegal), Error);
}

} // namespace
