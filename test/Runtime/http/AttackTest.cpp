//===- AttackTest.cpp - clients that want to stop a server ----------------===//
// The server is a process of its own. While they are connected, a good client
// is served, the server's memory stays small, and it ends when it is told to.

#include "test/Runtime/http/RawClient.h"

#include <algorithm>
#include <csignal>
#include <deque>
#include <fstream>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kIsMemoryOwn = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kIsMemoryOwn = false;
#else
constexpr bool kIsMemoryOwn = true;
#endif
#else
constexpr bool kIsMemoryOwn = true;
#endif

class Attack : public testing::Test {
protected:
  void SetUp() override {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    server = fork();
    if (!server) {
      dup2(ends[1], STDOUT_FILENO);
      close(ends[0]);
      close(ends[1]);
      execl(LIMITS_SERVER, LIMITS_SERVER, nullptr);
      _exit(1);
    }
    close(ends[1]);
    FILE *output = fdopen(ends[0], "r");
    ASSERT_EQ(fscanf(output, "%d", &port), 1);
    fclose(output);
    ASSERT_EQ(ask(port, getRequest("/")).status, 200); // it has all it needs
    idleMemory = peakMemory();
    ASSERT_GT(idleMemory, 0);
  }

  /// Checks a good client, the memory and the end while all are connected.
  void TearDown() override {
    RawClient good(port);
    for (int i = 0; i < 3; ++i) {
      good.send(postRequest("/echo", "hello"));
      const RawAnswer answer = good.answer();
      EXPECT_EQ(answer.status, 200);
      EXPECT_EQ(answer.body, "hello");
    }
    EXPECT_EQ(ask(port, getRequest("/")).body.size(), 600u << 10);
    const std::string large(1 << 20, 'x');
    EXPECT_EQ(ask(port, postRequest("/echo", large)).body, large);
    if (kIsMemoryOwn) {
      EXPECT_LT(peakMemory() - idleMemory, 64 << 10) << "KiB";
    }
    kill(server, SIGTERM);
    int status = 0;
    waitpid(server, &status, 0);
    EXPECT_EQ(status, 0);
  }

  /// Returns the most memory that the server has had, in KiB.
  long peakMemory() const {
    std::ifstream file("/proc/" + std::to_string(server) + "/status");
    for (std::string word; file >> word;)
      if (word == "VmHWM:") {
        long size = 0;
        file >> size;
        return size;
      }
    return 0;
  }

  void connect(int count) {
    for (int i = 0; i < count; ++i)
      ASSERT_GE(clients.emplace_back(port).socket, 0) << i;
  }
  void sendAll(const std::string &bytes) {
    for (RawClient &client : clients)
      client.trySend(bytes);
  }
  /// Sends bytes from all clients, over and over; none waits for the server.
  void sendMuch(const std::string &bytes, int rounds) {
    for (int i = 0; i < rounds; ++i)
      sendAll(bytes);
  }

  pid_t server = -1;
  int port = 0;
  long idleMemory = 0;
  std::deque<RawClient> clients;
};

TEST_F(Attack, HeadsThatTrickle) {
  connect(80);
  sendAll("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ");
  sendMuch("a", 20);
}

TEST_F(Attack, BodiesThatTrickle) {
  connect(80);
  sendAll("POST /echo HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5000\r\n"
          "\r\n");
  sendMuch("a", 20);
}

TEST_F(Attack, ClientsThatSayNothing) {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  connect(limit.rlim_cur < 1200 ? static_cast<int>(limit.rlim_cur) / 2 : 1000);
}

TEST_F(Attack, ClientsThatAreHalfGone) {
  connect(200);
  for (std::size_t i = 0; i < clients.size(); ++i) {
    clients[i].trySend(i % 2 ? "GET / HTTP/1.1\r\nHo" : getRequest("/"));
    if (i % 4 < 2)
      clients[i].endSending();
  }
}

TEST_F(Attack, BodiesThatDoNotEnd) {
  connect(80);
  sendAll("POST /echo HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: "
          "chunked\r\n\r\n");
  std::string chunk = "10000\r\n" + std::string(0x10000, 'x') + "\r\n";
  sendMuch(chunk, 40);
}

TEST_F(Attack, BodiesThatAlmostEnd) {
  connect(80);
  const std::string body(1 << 20, 'x');
  const std::string request = postRequest("/echo", body);
  std::deque<std::size_t> sent(clients.size());
  for (int round = 0; round < 60; ++round)
    for (std::size_t i = 0; i < clients.size(); ++i) {
      const std::size_t left = request.size() - 1 - sent[i];
      const long taken =
          clients[i].trySend(std::string_view(request).substr(sent[i], left));
      sent[i] += std::max(taken, 0l);
    }
}

TEST_F(Attack, HeadersThatDoNotEnd) {
  connect(80);
  sendAll("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n");
  sendMuch("X: " + std::string(1000, 'y') + "\r\n", 100);
}

TEST_F(Attack, PagesThatNobodyReads) {
  connect(300);
  for (RawClient &client : clients)
    client.receiveLittle();
  sendMuch(getRequest("/"), 100);
}

TEST_F(Attack, AnswersThatNobodyReads) {
  connect(80);
  for (RawClient &client : clients)
    client.receiveLittle();
  const std::string request = postRequest("/echo", std::string(1 << 20, 'x'));
  for (RawClient &client : clients)
    client.send(request);
}

TEST_F(Attack, StreamsThatNobodyReads) {
  connect(7); // all workers but one
  for (RawClient &client : clients)
    client.receiveLittle();
  sendAll(getRequest("/stream"));
}

TEST_F(Attack, ClientsThatLeaveAtOnce) {
  for (int i = 0; i < 300; ++i) {
    RawClient client(port);
    const linger now{1, 0};
    client.send(getRequest(i % 2 ? "/stream" : "/"));
    setsockopt(client.socket, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  }
}

TEST_F(Attack, Garbage) {
  connect(100);
  for (std::size_t i = 0; i < clients.size(); ++i) {
    std::string bytes(5000, '\0');
    unsigned state = static_cast<unsigned>(i) * 2654435761u + 1;
    for (char &c : bytes)
      c = static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
    clients[i].trySend(i % 3 ? bytes : "\x16\x03\x01" + bytes);
  }
}

} // namespace
