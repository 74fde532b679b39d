//===- StrangersTest.cpp - no stranger keeps processes from meeting -------===//
// Each test runs without a secret and, where the build has libcrypto, with one
// that the strangers do not know, or that they do: then they are ranks that are
// started wrongly, and learn why.
//===----------------------------------------------------------------------===//
#include "test/Runtime/collectives/Strangers.h"

#include <atomic>
#include <functional>
#include <sys/socket.h>

using namespace tessera;
using namespace fixture;
using nlohmann::json;

namespace {

const std::string secretOfTheRun = "the secret of this run";

class Strangers : public testing::TestWithParam<bool> {
protected:
  std::string secret() const { return GetParam() ? secretOfTheRun : ""; }
  ProcessOptions process(int64_t rank, int64_t size) {
    ProcessOptions options = processOf(rank, size, at);
    options.secret = secret();
    if (rank == 0)
      options.note = notes.taker();
    return options;
  }
  /// Rank 0 waits while strangers do what they do, and then finds the others.
  void expectToMeet(int64_t size, const std::function<void()> &strangers) {
    std::thread first([&] {
      Status status = joinAs(process(0, size));
      EXPECT_TRUE(status.ok()) << status.message;
    });
    strangers();
    std::vector<ProcessOptions> others;
    for (int64_t rank = 1; rank < size; ++rank)
      others.push_back(process(rank, size));
    for (const Status &status : joinAll(others))
      EXPECT_TRUE(status.ok()) << status.message;
    first.join();
  }
  /// Returns the answer of rank 0 to a message: "" without a secret.
  std::string answerTo(const std::string &message) {
    Socket socket = acquaintance(at, secret());
    std::string bytes = withLength(message);
    sendAll(socket, bytes.data(), bytes.size(), soon());
    return heardUntilClosed(socket);
  }
  void expectRefused(const std::string &message, const std::string &why) {
    std::string answer = answerTo(message);
    if (secret().empty())
      EXPECT_EQ(answer, "") << why;
    else
      EXPECT_CONTAINS(json::parse(answer.substr(4))["error"].get<std::string>(),
                      why);
  }

  std::string at = freeRendezvous();
  Notes notes;
};

TEST_P(Strangers, OtherProtocolsAreIgnored) {
  expectToMeet(2, [&] {
    for (const std::string &words :
         {std::string("GET / HTTP/1.1\r\n\r\n"), std::string("\n"),
          std::string("\x16\x03\x01\x02\0\x01", 6),
          std::string("SSH-2.0-x\r\n"), std::string(100000, '\xff'),
          std::string("TSRWIRE0"), "TSRWIRE1" + std::string(40, '\2')})
      EXPECT_EQ(heardUntilClosed(stranger(at, words)), "");
  });
  EXPECT_CONTAINS(notes.all(),
                  "1 connection was refused, from 127.0.0.1: it is "
                  "no process of this version of Tessera; the "
                  "others are waited for");
}

TEST_P(Strangers, WhoLeavesIsIgnored) {
  expectToMeet(2, [&] {
    for (const char *words : {"", "T", "TSRWIRE1"})
      stranger(at, words);
    Opening opening = openingFor(Secret(secret()));
    Socket socket = stranger(at, "");
    sendAll(socket, &opening, sizeof opening, soon());
    Socket friendly = acquaintance(at, secret());
    sendAll(friendly, "\x40\0\0\0{", 5, soon());
  });
}

/// More than may wait at a time, and than a process may usually open.
TEST_P(Strangers, SilentOnesKeepNobodyWaiting) {
  std::vector<Socket> silent;
  expectToMeet(3, [&] {
    for (int i = 0; i < 400; ++i)
      silent.push_back(stranger(at, i % 2 ? "" : "TSR"));
  });
  EXPECT_CONTAINS(notes.all(), "it was silent, and ");
}

/// They send all that may be sent, and never the last byte.
TEST_P(Strangers, HalfMessagesKeepNobodyWaiting) {
  std::vector<Socket> halves;
  Opening opening = openingFor(Secret(secret()));
  std::string hello =
      withLength(std::string(longestHello, '[')).substr(0, longestHello);
  expectToMeet(2, [&] {
    for (int i = 0; i < 100; ++i) {
      halves.push_back(stranger(at, ""));
      const std::string words =
          std::string(reinterpret_cast<const char *>(&opening),
                      sizeof opening) +
          (secret().empty() ? hello : "proof");
      send(halves.back().get(), words.data(), words.size(),
           MSG_NOSIGNAL | MSG_DONTWAIT);
    }
  });
}

TEST_P(Strangers, MalformedHellosAreRefused) {
  const std::pair<std::string, std::string> cases[] = {
      {helloWith("agreement", json::parse("[[]]")),
       "'agreement[0]' must be a name and a value, it has 0 elements"},
      {helloWith("agreement", json::parse("[[\"x\"]]")), "it has 1 elements"},
      {helloWith("agreement", json::parse("[[1,2]]")),
       "'agreement[0][0]' must be a string, it is number"},
      {helloWith("agreement", "x"), "'agreement' must be an array"},
      {helloWith("rank", -1), "'rank' is -1, must be in [0, 2147483647]"},
      {helloWith("rank", 0.5), "'rank' must be an integer"},
      {helloWith("rank", 1e300), "'rank' must be an integer"},
      {helloWith("rank", 7), "a process says it is rank 7 of 2"},
      {helloWith("rank", 0), "a process says it is rank 0 of 2"},
      {helloWith("world", 3), "rank 1 has a world size of 3, rank 0 has 2"},
      {helloWith("version", "9.9.9"),
       "rank 1 has version \"9.9.9\", rank 0 has"},
      {helloWith("port", 65536), "'port' is 65536, must be in [1, 65535]"},
      {helloWith("version", nullptr), "'version' must be a string"},
      {"{\"rank\":1," + helloOf(1, 2).substr(1), "'rank'"},
      {"", "is not JSON"},
      {"[]", "'the whole' must be an object"},
      {"{", "is not JSON"},
      {std::string(100000, '['), "nest more than 3 deep"},
      {"[" + std::string(20000, '1') + "]", "is not JSON"},
      {helloWith("agreement", json::array_t(5000)), "more than 4096 values"},
      {std::string("\xff\xfe\0", 3), "is not JSON"},
  };
  expectToMeet(2, [&] {
    for (const auto &[message, why] : cases)
      expectRefused(message, why);
  });
}

/// A process of another program is a stranger if there is no secret.
TEST_P(Strangers, OtherSettingsAreToldToWhoKnowsTheSecret) {
  std::thread first([&] {
    Status status = joinAs(process(0, 2), {{"seed", "1"}});
    EXPECT_EQ(status.message,
              secret().empty()
                  ? ""
                  : "rank 1 has seed \"2\", rank 0 has \"1\"; start all "
                    "processes alike, with the same files");
  });
  Status refused = joinAs(process(1, 2), {{"seed", "2"}});
  if (secret().empty()) {
    EXPECT_EQ(refused.code, TSR_IO);
    EXPECT_CONTAINS(refused.message,
                    "; it has ended, or does not take this process: its output "
                    "says why; all processes need the same version, files and "
                    "options, and a rank of their own");
    EXPECT_CONTAINS(notes.all(), "rank 1 has seed \"2\", rank 0 has \"1\"");
    Status status = joinAs(process(1, 2), {{"seed", "1"}});
    EXPECT_TRUE(status.ok()) << status.message;
  } else {
    EXPECT_EQ(refused.code, TSR_MISMATCH);
    EXPECT_CONTAINS(refused.message, "rank 1 has seed \"2\"");
  }
  first.join();
}

TEST_P(Strangers, SecondOfARankDoesNotReplaceTheFirst) {
  std::thread first([&] {
    // The ranks of this test end as soon as they have the table.
    EXPECT_EQ(joinAs(process(0, 3)).code, TSR_ABORTED);
  });
  Socket one = acquaintance(at, secret());
  sendText(one, helloOf(1, 3), soon());
  expectRefused(helloOf(1, 3),
                "two processes say that they are rank 1; give each its own "
                "RANK");
  Socket two = acquaintance(at, secret());
  sendText(two, helloOf(2, 3), soon());
  EXPECT_EQ(
      readTable(receiveText(one, longestTable, soon()), 3).processes.size(),
      3u);
  EXPECT_CONTAINS(notes.all(), "two processes say that they are rank 1");
  one.close();
  two.close();
  first.join();
}

TEST_P(Strangers, RankThatEndedMayComeAgain) {
  expectToMeet(3, [&] {
    for (int64_t rank : {1, 2, 1}) {
      Socket socket = acquaintance(at, secret());
      sendText(socket, helloOf(rank, 3), soon());
      if (rank == 2) // a byte too much is as good as an end
        sendAll(socket, "x", 1, soon());
    }
  });
}

/// Rank 0 says who came when nobody else does.
TEST_P(Strangers, AreDescribedToWhoWaitsInVain) {
  withEnoughTime([&](std::chrono::milliseconds time) {
    at = freeRendezvous();
    std::atomic<bool> isDone{false};
    std::thread callers([&] {
      try {
        heardUntilClosed(stranger(at, "GET / HTTP/1.1\r\n\r\n"));
        for (int64_t rank : {9, 7})
          answerTo(helloWith("rank", rank));
        Socket socket = acquaintance(at, secret());
        sendAll(socket, "\xff\xff\xff\xff", 4, soon());
        heardUntilClosed(socket);
      } catch (const Error &) { // rank 0 has given up
      }
      isDone = true;
    });
    ProcessOptions options = process(0, 2);
    options.timeout = time;
    Status status = joinAs(options);
    for (std::vector<Socket> late = listenOn(parseAddress(at)); !isDone;)
      acceptFrom(late[0], std::chrono::steady_clock::now() +
                              std::chrono::milliseconds(10));
    callers.join();
    EXPECT_EQ(status.code, TSR_TIMEOUT);
    if (status.message.find("its message has") == std::string::npos)
      return false;
    EXPECT_CONTAINS(status.message,
                    "; 4 connections were refused: 1 time, the last from "
                    "127.0.0.1: it is no process of this version of Tessera; 1 "
                    "time, the last from 127.0.0.1: its message has 4294967295 "
                    "bytes, at most 262144 are read; 2 times, the last from "
                    "127.0.0.1: a process says it is rank 7 of 2");
    return true;
  });
}

/// Nothing that a stranger says reaches a terminal as it is.
TEST_P(Strangers, NotesArePrintable) {
  expectToMeet(2, [&] {
    expectRefused(helloWith("version", "\x1b]0;title\x07\n\xc2\x9b"), "");
  });
  for (char byte : notes.all())
    EXPECT_TRUE(byte == '\n' || (byte >= ' ' && byte < 0x7f)) << int(byte);
  EXPECT_CONTAINS(notes.all(), "rank 1 has version \"");
}

std::string nameOfSecret(const testing::TestParamInfo<bool> &info) {
  return info.param ? "Secret" : "NoSecret";
}
#if TESSERA_HAS_LIBCRYPTO
INSTANTIATE_TEST_SUITE_P(Rendezvous, Strangers, testing::Bool(), nameOfSecret);
#else
INSTANTIATE_TEST_SUITE_P(Rendezvous, Strangers, testing::Values(false),
                         nameOfSecret);
#endif

} // namespace
