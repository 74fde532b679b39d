//===- RendezvousTest.cpp - processes that find each other, or do not -----===//
#include "runtime/collectives/process/Handshake.h"
#include "runtime/support/Status.h"
#include "test/Runtime/collectives/CommunicatorWorld.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
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
                                  "rank; one that was started has ended, or "
                                  "cannot reach this address: its output says "
                                  "why");
  }
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
                              "all processes alike, with the same files");
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

Deadline soon() {
  return std::chrono::steady_clock::now() + std::chrono::seconds(300);
}

/// A connection that has introduced itself.
Socket acquaintance(const std::string &at) {
  Socket socket = connectTo(parseAddress(at), "rank 0", soon());
  introduce(socket, Secret(), "rank 0", soon());
  return socket;
}

/// A connection that says `bytes` and nothing more.
Socket stranger(const std::string &at, const std::string &bytes) {
  Socket socket = connectTo(parseAddress(at), "rank 0", soon());
  sendAll(socket, bytes.data(), bytes.size(), soon());
  return socket;
}

/// Rank 0 waits while strangers do what they do, and then finds rank 1.
template <class Strangers> void expectToMeet(const Strangers &strangers) {
  std::string at = freeRendezvous();
  std::thread late([&] {
    strangers(at);
    EXPECT_NO_THROW(joinProcesses(processOf(1, 2, at), {}));
  });
  EXPECT_NO_THROW(joinProcesses(processOf(0, 2, at), {}));
  late.join();
}

/// What rank 0 answers a message.
std::string answerTo(const std::string &at, const std::string &message) {
  Socket socket = acquaintance(at);
  sendText(socket, message, soon());
  return receiveText(socket, longestTable, soon());
}

/// A hello of rank 1 of 2, but for some of its fields.
std::string helloWith(const std::string &name, const nlohmann::json &value) {
  nlohmann::json hello = nlohmann::json::parse(
      writeHello({TESSERA_VERSION, 1, 2, 4000, "machine", {}}));
  hello[name] = value;
  return hello.dump();
}

TEST(Rendezvous, StrangersAreIgnored) {
  expectToMeet(
      [](const std::string &at) { stranger(at, "GET / HTTP/1.1\r\n\r\n"); });
}

TEST(Rendezvous, SilentConnectionsKeepNobodyWaiting) {
  expectToMeet([](const std::string &at) {
    static std::vector<Socket> silent;
    for (int i = 0; i < 200; ++i)
      silent.push_back(stranger(at, i % 2 ? "" : std::string(3, '\0')));
  });
}

TEST(Rendezvous, MalformedProcessesAreRefused) {
  using nlohmann::json;
  std::string deep(100000, '[');
  const std::pair<std::string, std::string> cases[] = {
      {helloWith("agreement", json::parse("[[]]")),
       "'agreement[0]' must be a name and a value, it has 0 elements"},
      {helloWith("agreement", json::parse("[[\"x\"]]")), "it has 1 elements"},
      {helloWith("agreement", json::parse("[[1,2]]")),
       "'agreement[0][0]' must be a string, it is number"},
      {helloWith("agreement", "x"), "'agreement' must be an array"},
      {helloWith("rank", -1), "'rank' is -1, must be in [0, 2147483647]"},
      {helloWith("rank", 0.5), "'rank' must be an integer"},
      {helloWith("rank", 7), "a process says it is rank 7 of 2"},
      {helloWith("port", 65536), "'port' is 65536, must be in [1, 65535]"},
      {helloWith("version", nullptr), "'version' must be a string"},
      {"[]", "'the whole' must be an object"},
      {"{", "is not JSON"},
      {deep, "nests arrays and objects more than 3 deep"},
      {"[" + std::string(20000, '1') + "]", "is not JSON"},
      {helloWith("agreement", json::array_t(5000)),
       "has more than 4096 values"},
      {std::string("\xff\xfe\0", 3), "is not JSON"},
  };
  expectToMeet([&](const std::string &at) {
    for (const auto &[message, why] : cases)
      EXPECT_NE(answerTo(at, message).find(why), std::string::npos)
          << why << " is not in " << answerTo(at, message);
  });
}

TEST(Rendezvous, TooLongMessageIsNotRead) {
  std::string at = freeRendezvous();
  Guest first{processOf(0, 2, at), {}};
  first.options.timeout = std::chrono::milliseconds(4000);
  std::thread caller([&] {
    Socket socket = acquaintance(at);
    sendAll(socket, "\xff\xff\xff\xff", 4, soon());
    char byte;
    EXPECT_THROW(receiveAll(socket, &byte, 1, soon()), Error);
  });
  std::string message = join({first})[0].message;
  caller.join();
  EXPECT_NE(message.find("; 1 connection was refused, the last from "
                         "127.0.0.1: its message has 4294967295 bytes, at "
                         "most 262144 are read"),
            std::string::npos)
      << message;
}

TEST(Rendezvous, RefusedProcessesAreCounted) {
  std::string at = freeRendezvous();
  Guest first{processOf(0, 2, at), {}};
  first.options.timeout = std::chrono::milliseconds(4000);
  std::thread caller([&] {
    for (int64_t rank : {9, 7})
      answerTo(at, helloWith("rank", rank));
  });
  std::string message = join({first})[0].message;
  caller.join();
  EXPECT_NE(message.find("; 2 connections were refused, the last from "
                         "127.0.0.1: a process says it is rank 7 of 2"),
            std::string::npos)
      << message;
}

/// Of other versions no more is read than that.
TEST(Rendezvous, OtherVersionAndWorldAreNamed) {
  for (const auto &[hello, why] :
       {std::pair<std::string, std::string>{
            R"({"version": "9.9.9", "rank": 1, "world": 3})",
            "rank 1 has version \"9.9.9\", rank 0 has \"" TESSERA_VERSION
            "\"; start all processes alike"},
        {helloWith("world", 3), "rank 1 has a world size of 3, rank 0 has 2; "
                                "start all processes alike"}}) {
    std::string at = freeRendezvous();
    std::string answer;
    std::thread caller([&, hello = hello] { answer = answerTo(at, hello); });
    Status status = join({{processOf(0, 2, at), {}}})[0];
    caller.join();
    EXPECT_EQ(status.code, TSR_MISMATCH);
    EXPECT_EQ(status.message, why);
    EXPECT_EQ(nlohmann::json::parse(answer)["error"], why);
  }
}

TEST(Rendezvous, ProcessThatEndsIsNamedAtOnce) {
  std::string at = freeRendezvous();
  Guest first{processOf(0, 3, at), {}};
  first.options.timeout = std::chrono::minutes(10);
  std::thread guest([&] {
    Socket socket = acquaintance(at);
    sendText(socket, writeHello({TESSERA_VERSION, 2, 3, 4000, "machine", {}}),
             soon());
  });
  Status status = join({first})[0];
  guest.join();
  EXPECT_EQ(status.code, TSR_ABORTED);
  EXPECT_EQ(status.message, "the process of rank 2 has ended before all were "
                            "connected; its output says why");
}

/// Rank 1 gets the table and ends, or never listened.
TEST(Rendezvous, ProcessThatEndsWithTheTableIsNamedAtOnce) {
  std::string at = freeRendezvous();
  Guest first{processOf(0, 2, at), {}};
  first.options.timeout = std::chrono::minutes(10);
  std::thread guest([&] {
    answerTo(at, writeHello({TESSERA_VERSION, 1, 2, 4000, "machine", {}}));
  });
  Status status = join({first})[0];
  guest.join();
  EXPECT_EQ(status.message, "the process of rank 1 has ended before all were "
                            "connected; its output says why");
}

/// Rank 1 connects, between others that say they were of it.
TEST(Rendezvous, ConnectionsOfOtherRunsAreRefused) {
  std::string at = freeRendezvous();
  std::thread guest([&] {
    Socket hub = acquaintance(at);
    sendText(hub, writeHello({TESSERA_VERSION, 1, 2, 4000, "machine", {}}),
             soon());
    uint64_t cookie =
        readTable(receiveText(hub, longestTable, soon()), 2).cookie;
    std::vector<Socket> sockets;
    auto greet = [&](const Greeting &greeting) {
      sockets.push_back(acquaintance(at));
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
  Guest guest{processOf(0, 2, "192.0.2.1:4000"), {}};
  guest.options.trustsNetwork = true;
  EXPECT_EQ(join({guest})[0].message,
            "cannot listen on 192.0.2.1:4000: Cannot assign requested address; "
            "rank 0 must run on the host that the rendezvous names");
}

TEST(Rendezvous, OccupiedPortIsAnError) {
  std::vector<Socket> taken = listenOn({"127.0.0.1", 0});
  std::string at = concat("127.0.0.1:", portOf(taken[0]));
  Status status = join({{processOf(0, 2, at), {}}})[0];
  EXPECT_EQ(status.code, TSR_IO);
  EXPECT_EQ(status.message,
            concat("cannot listen on ", at,
                   ": Address already in use; choose another port for the "
                   "rendezvous"));
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
