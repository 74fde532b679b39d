//===- ReceptionTest.cpp - many come, and most of them for nothing --------===//
#include "runtime/collectives/process/Reception.h"
#include "test/Runtime/collectives/Strangers.h"

#include <atomic>
#include <deque>
#include <sys/resource.h>
#include <sys/socket.h>

using namespace tessera;
using namespace fixture;
using Clock = std::chrono::steady_clock;

namespace {

// Strangers are silent for as long as a busy machine takes.
constexpr std::chrono::minutes patience{5};
constexpr ReceptionLimits few = {1000, 8, 100000, patience};

/// A reception at `at`.
struct Door {
  explicit Door(ReceptionLimits limits = few, const std::string &secret = "")
      : listeners(listenOn({"127.0.0.1", 0})),
        at(concat("127.0.0.1:", portOf(listeners[0]))),
        reception(std::move(listeners), Secret(secret), limits) {}

  std::vector<Socket> listeners;
  std::string at;
  Reception reception;
};

/// Returns all that a process says, at once.
std::string wordsOf(const std::string &message) {
  Opening opening = openingFor(Secret());
  return std::string(reinterpret_cast<const char *>(&opening), sizeof opening) +
         withLength(message);
}

TEST(Reception, IsOverAtTheDeadlineHoweverManyCome) {
  Door door;
  std::atomic<bool> isOver{false};
  std::thread crowd([&] {
    while (!isOver)
      stranger(door.at, "GET");
  });
  EXPECT_FALSE(
      door.reception.next(Clock::now() + std::chrono::seconds(1)).socket);
  isOver = true;
  crowd.join();
}

TEST(Reception, WhoHasShownLeastGoesFirst) {
  Door door;
  Socket polite = stranger(door.at, wordsOf("hello").substr(0, 51));
  std::deque<Socket> crowd;
  for (int i = 0; i < 1000; ++i) {
    crowd.push_back(stranger(door.at, i % 2 ? "" : "TSRWIRE1"));
    door.reception.next(Clock::now());
    if (crowd.size() > 50) // more than are served at a time
      crowd.pop_front();
  }
  std::string rest = wordsOf("hello").substr(51);
  sendAll(polite, rest.data(), rest.size(), soon());
  EXPECT_EQ(door.reception.next(soon()).message, "hello");
}

TEST(Reception, MemoryOfStrangersIsBounded) {
  Door door({100000, 50, 250000, patience});
  std::vector<Socket> greedy;
  for (int i = 0; i < 20; ++i) {
    greedy.push_back(stranger(door.at, ""));
    std::string words = wordsOf(std::string(100000, 'x'));
    words.pop_back();
    std::thread serving([&] {
      for (int turn = 0; turn < 20; ++turn)
        door.reception.next(Clock::now() + std::chrono::milliseconds(1));
    });
    send(greedy.back().get(), words.data(), words.size(), MSG_NOSIGNAL);
    serving.join();
  }
  EXPECT_CONTAINS(door.reception.describeRefused(),
                  "its message was the longest of too many, ");
  Socket friendly = stranger(door.at, wordsOf("hello"));
  EXPECT_EQ(door.reception.next(soon()).message, "hello");
}

/// Lowers what this process may open, and restores it.
class FewFiles {
public:
  explicit FewFiles(rlim_t more) {
    getrlimit(RLIMIT_NOFILE, &before);
    rlimit lower = before;
    Socket probe(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    lower.rlim_cur = static_cast<rlim_t>(probe.get()) + more;
    setrlimit(RLIMIT_NOFILE, &lower);
  }
  ~FewFiles() { setrlimit(RLIMIT_NOFILE, &before); }

private:
  rlimit before{};
};

TEST(Reception, StrangersDoNotUseUpTheFiles) {
  Door door({1000, 500, 100000, patience});
  std::vector<Socket> silent;
  for (int i = 0; i < 60; ++i)
    silent.push_back(stranger(door.at, ""));
  Socket friendly = stranger(door.at, wordsOf("hello"));
  FewFiles limit(10);
  EXPECT_EQ(door.reception.next(soon()).message, "hello");
  EXPECT_CONTAINS(door.reception.describeRefused(),
                  "it was silent, and this process may open no more files");
}

TEST(Reception, SlowOnesAreDroppedInTime) {
  Door door({1000, 8, 100000, std::chrono::milliseconds(200)});
  Socket slow = stranger(door.at, wordsOf("hello").substr(0, 20));
  std::thread called([&] {
    while (door.reception.describeRefused().empty())
      door.reception.next(Clock::now() + std::chrono::milliseconds(10));
  });
  EXPECT_EQ(heardUntilClosed(slow), "");
  called.join();
  EXPECT_CONTAINS(door.reception.describeRefused(),
                  "it brought no message within 200 ms");
}

} // namespace
