//===- HttpServerTest.cpp - answers of a server, and its refusals ---------===//

#include "tessera/http.hpp"
#include "test/Runtime/http/RawClient.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <gtest/gtest.h>
#include <mutex>
#include <thread>

using namespace tessera;
using namespace std::chrono_literals;

namespace {

/// An event that a test waits for, however long it takes.
class Signal {
public:
  void give() {
    std::lock_guard<std::mutex> lock(mutex);
    isGiven = true;
    given.notify_all();
  }
  void wait() {
    std::unique_lock<std::mutex> lock(mutex);
    given.wait(lock, [&] { return isGiven; });
  }

private:
  std::mutex mutex;
  std::condition_variable given;
  bool isGiven = false;
};

class HttpServerTest : public testing::Test {
protected:
  ~HttpServerTest() override { end(); }

  void start() {
    server = std::make_unique<HttpServer>(options);
    server->page("/", "text/html", "<p>page</p>");
    server->route("POST", "/echo", [](HttpRequest &request, HttpAnswer answer) {
      answer.send(200, "text/plain", request.query + request.body);
    });
    server->route("GET", "/hold", [this](HttpRequest &, HttpAnswer answer) {
      holds.give();
      release.wait();
      answer.send(200, "text/plain", "held");
    });
    server->route("GET", "/stream", [this](HttpRequest &, HttpAnswer answer) {
      answer.begin(200, "text/event-stream");
      answer.write("data: 1\n\n");
      answer.whenGone([this] { left.give(); });
      while (answer.isAwaited())
        std::this_thread::sleep_for(1ms);
    });
    server->route("GET", "/count", [](HttpRequest &, HttpAnswer answer) {
      std::thread([answer]() mutable {
        answer.begin(200, "text/plain");
        for (int i = 0; i < 1000; ++i)
          answer.write(std::to_string(i) + "\n");
        answer.end();
      }).detach();
    });
    server->route("GET", "/flood", [this](HttpRequest &, HttpAnswer answer) {
      answer.begin(200, "text/plain");
      while (answer.write(std::string(10'000, 'x')))
        flooded += 10'000;
      left.give();
    });
    server->route("GET", "/throw", [](HttpRequest &, HttpAnswer) {
      throw HttpError(418, "a teapot");
    });
    server->route("GET", "/fail", [](HttpRequest &, HttpAnswer) {
      throw std::runtime_error("a reason");
    });
    server->route("GET", "/forget", [](HttpRequest &, HttpAnswer) {});
    server->route("GET", "/break", [](HttpRequest &, HttpAnswer answer) {
      answer.begin(200, "text/plain");
      answer.write("half");
    });
    port = server->listen();
    thread = std::thread([this] { server->run(); });
  }
  void end() {
    release.give();
    if (!thread.joinable())
      return;
    server->stop();
    thread.join();
  }
  int statusOf(const std::string &bytes) { return ask(port, bytes).status; }

  HttpOptions options;
  Signal holds, release, left;
  std::atomic<std::size_t> flooded{0};
  std::unique_ptr<HttpServer> server;
  int port = 0;
  std::thread thread;
};

TEST_F(HttpServerTest, AnswersSeveralRequestsOfAConnection) {
  options.headers = {{"X-Ours", "yes"}};
  start();
  RawClient client(port);
  for (const char *body : {"one", "", "three"}) {
    client.send(postRequest("/echo?q=", body));
    const RawAnswer answer = client.answer();
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body, "q=" + std::string(body));
    EXPECT_EQ(answer.headers.at("x-ours"), "yes");
    EXPECT_EQ(answer.headers.at("connection"), "keep-alive");
  }
  client.send(getRequest("/", "Range: bytes=0-2\r\nConnection: close\r\n"));
  EXPECT_EQ(client.answer().body, "<p>page</p>");
  EXPECT_TRUE(client.isClosed());
}

TEST_F(HttpServerTest, AnswersRequestsThatCameTogether) {
  start();
  RawClient client(port);
  std::string all;
  for (int i = 0; i < 500; ++i)
    all += i % 2 ? getRequest("/") : postRequest("/echo", std::to_string(i));
  std::thread sender([&] { EXPECT_TRUE(client.send(all)); });
  for (int i = 0; i < 500; ++i)
    ASSERT_EQ(client.answer().body, i % 2 ? "<p>page</p>" : std::to_string(i));
  sender.join();
}

TEST_F(HttpServerTest, KnowsMethods) {
  start();
  RawClient client(port);
  client.send("HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const RawAnswer head = client.answer(/*isHead=*/true);
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.headers.at("content-length"), "11");
  client.send("OPTIONS /echo HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const RawAnswer options = client.answer();
  EXPECT_EQ(options.status, 204);
  EXPECT_EQ(options.headers.at("allow"), "POST, OPTIONS");
  EXPECT_EQ(options.headers.count("access-control-allow-origin"), 0u);
  for (const char *method : {"DELETE", "TRACE", "PROPFIND", "get"}) {
    client.send(std::string(method) + " / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    const RawAnswer answer = client.answer();
    EXPECT_EQ(answer.status, 405) << method;
    EXPECT_EQ(answer.headers.at("allow"), "GET, HEAD, OPTIONS");
  }
  for (const char *path : {"/nothing", "//", "/../", "/%2e", "/echo/"}) {
    client.send(getRequest(path));
    EXPECT_EQ(client.answer().status, 404) << path;
  }
  client.send("OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(client.answer().status, 204);
}

TEST_F(HttpServerTest, LetsChosenSitesAsk) {
  options.origins = {"https://chat.example.org"};
  start();
  const std::string origin = "Origin: https://chat.example.org\r\n";
  RawClient client(port);
  client.send("OPTIONS /echo HTTP/1.1\r\nHost: localhost\r\n" + origin +
              "Access-Control-Request-Method: POST\r\n\r\n");
  const RawAnswer asked = client.answer();
  EXPECT_EQ(asked.headers.at("access-control-allow-origin"),
            "https://chat.example.org");
  EXPECT_EQ(asked.headers.at("access-control-allow-methods"), "POST, OPTIONS");
  client.send(postRequest("/echo", "x", origin));
  EXPECT_EQ(client.answer().headers.at("access-control-allow-origin"),
            "https://chat.example.org");
  const RawAnswer other =
      ask(port, postRequest("/echo", "x", "Origin: https://evil.example\r\n"));
  EXPECT_EQ(other.status, 403);
  EXPECT_EQ(other.headers.count("access-control-allow-origin"), 0u);
}

TEST_F(HttpServerTest, RefusesAPageWhoseNameLeadsHere) {
  start();
  // The name evil.example leads to 127.0.0.1 by now: a browser sees one site.
  const std::string headers =
      " HTTP/1.1\r\nHost: evil.example:" + std::to_string(port) +
      "\r\nOrigin: http://evil.example:" + std::to_string(port) +
      "\r\nSec-Fetch-Site: same-origin\r\n";
  EXPECT_EQ(statusOf("GET /" + headers + "\r\n"), 403);
  EXPECT_EQ(statusOf("OPTIONS /echo" + headers + "\r\n"), 403);
  EXPECT_EQ(statusOf("POST /echo" + headers + "Content-Length: 1\r\n\r\nx"),
            403);
}

TEST_F(HttpServerTest, TellsWhoHasToWaitToGoOn) {
  start();
  RawClient client(port);
  const std::string request =
      postRequest("/echo", "body", "Expect: 100-continue\r\n");
  client.send(request.substr(0, request.size() - 4));
  EXPECT_EQ(client.read(25), "HTTP/1.1 100 Continue\r\n\r\n");
  client.send("body");
  EXPECT_EQ(client.answer().body, "body");
  RawClient large(port);
  large.send("POST /echo HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue"
             "\r\nContent-Length: 1048577\r\n\r\n");
  EXPECT_EQ(large.answer().status, 413);
}

TEST_F(HttpServerTest, RefusesAndReadsOn) {
  options.errorBody = [](int status, const std::string &) {
    return HttpErrorBody{"text/x-error", "error " + std::to_string(status)};
  };
  start();
  // All of it is sent before the answer is read.
  const RawAnswer answer =
      ask(port, postRequest("/echo", std::string(3 << 20, 'x')));
  EXPECT_EQ(answer.status, 413);
  EXPECT_EQ(answer.body, "error 413");
  EXPECT_EQ(answer.headers.at("content-type"), "text/x-error");
  EXPECT_EQ(answer.headers.at("connection"), "close");
  RawClient client(port);
  client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n"
              "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /smuggled");
  EXPECT_EQ(client.answer().status, 400);
  client.endSending();
  EXPECT_TRUE(client.isClosed());
}

TEST_F(HttpServerTest, SaysWhyAHandlerHasFailed) {
  start();
  EXPECT_EQ(ask(port, getRequest("/throw")).body, "a teapot\n");
  EXPECT_EQ(statusOf(getRequest("/throw")), 418);
  EXPECT_EQ(ask(port, getRequest("/fail")).body, "a reason\n");
  EXPECT_EQ(statusOf(getRequest("/fail")), 500);
  EXPECT_EQ(statusOf(getRequest("/forget")), 500);
  const RawAnswer broken = ask(port, getRequest("/break"));
  EXPECT_EQ(broken.status, 200);
  EXPECT_FALSE(broken.isWhole);
}

TEST_F(HttpServerTest, StreamsFromAnotherThread) {
  start();
  RawClient client(port);
  std::string wanted;
  for (int i = 0; i < 1000; ++i)
    wanted += std::to_string(i) + "\n";
  for (int i = 0; i < 3; ++i) {
    client.send(getRequest("/count"));
    const RawAnswer answer = client.answer();
    EXPECT_TRUE(answer.isWhole);
    EXPECT_EQ(answer.body, wanted);
  }
  client.send("GET /count HTTP/1.0\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(client.answer().body, wanted); // until the end, without chunks
}

TEST_F(HttpServerTest, IsToldThatAClientHasGone) {
  start();
  {
    RawClient client(port);
    client.send(getRequest("/stream"));
    EXPECT_EQ(client.read(50).size(), 50u);
  }
  left.wait();
}

TEST_F(HttpServerTest, EndsStreamsThatNobodyReads) {
  options.limits.pieceTime = 50ms;
  options.limits.unsentBytes = 100'000;
  start();
  RawClient client(port);
  client.receiveLittle();
  client.send(getRequest("/flood"));
  left.wait();
  EXPECT_GT(flooded.load(), 100'000u);
}

TEST_F(HttpServerTest, EndsStreamsThatNobodyReadsForOthers) {
  options.limits.memoryBytes = 300'000;
  start();
  RawClient first(port), second(port);
  for (RawClient *client : {&first, &second}) {
    client->receiveLittle();
    client->send(getRequest("/flood"));
  }
  left.wait(); // long before pieceTime
  EXPECT_EQ(statusOf(getRequest("/")), 200);
}

TEST_F(HttpServerTest, EndsRequestsThatTakeTooLong) {
  options.limits.headTime = 50ms;
  options.limits.requestTime = 100ms;
  start();
  for (const std::string begin :
       {"GET / HTTP/1.1\r\nX: ", "POST /echo HTTP/1.1\r\nHost: localhost\r\n"
                                 "Content-Length: 1000000\r\n\r\n"}) {
    RawClient client(port);
    client.send(begin);
    std::atomic<bool> isOpen{true};
    std::thread trickle([&] {
      while (isOpen && client.trySend("a") == 1)
        std::this_thread::sleep_for(1ms);
    });
    EXPECT_EQ(client.answer().status, 408);
    isOpen = false;
    trickle.join();
    client.endSending();
    EXPECT_TRUE(client.isClosed());
  }
  RawClient silent(port);
  EXPECT_TRUE(silent.isClosed());
}

TEST_F(HttpServerTest, ClosesConnectionsThatAreIdle) {
  options.limits.idleTime = 10ms;
  start();
  RawClient client(port);
  client.send(getRequest("/"));
  EXPECT_EQ(client.answer().status, 200);
  EXPECT_TRUE(client.isClosed());
}

TEST_F(HttpServerTest, ClosesTheOldestWhereThereAreTooMany) {
  options.limits.connections = 4;
  start();
  RawClient held(port); // is the oldest, but has a handler
  held.send(getRequest("/hold"));
  holds.wait();
  std::deque<RawClient> idle;
  for (int i = 0; i < 10; ++i) {
    idle.emplace_back(port);
    EXPECT_EQ(statusOf(getRequest("/")), 200);
  }
  EXPECT_TRUE(idle.front().isClosed());
  release.give();
  EXPECT_EQ(held.answer().body, "held");
}

TEST_F(HttpServerTest, RefusesWhereAllConnectionsHaveHandlers) {
  options.limits.connections = 2;
  start();
  RawClient first(port), second(port);
  first.send(getRequest("/stream"));
  second.send(getRequest("/stream"));
  EXPECT_EQ(first.read(50).size() + second.read(50).size(), 100u);
  EXPECT_EQ(RawClient(port).answer().status, 503);
}

TEST_F(HttpServerTest, RefusesWhereTooManyWait) {
  options.limits.workers = 1;
  options.limits.waiting = 1;
  start();
  RawClient runs(port), waits(port);
  runs.send(getRequest("/hold"));
  holds.wait();
  waits.send(getRequest("/hold"));
  RawAnswer refused = ask(port, getRequest("/throw"));
  while (refused.status != 503) // the one that waits may not be there yet
    refused = ask(port, getRequest("/throw"));
  EXPECT_EQ(refused.headers.at("retry-after"), "1");
  release.give();
  EXPECT_EQ(runs.answer().body, "held");
  EXPECT_EQ(waits.answer().body, "held");
}

TEST_F(HttpServerTest, KeepsBodiesWithinABudget) {
  options.limits.memoryBytes = 1 << 20;
  start();
  std::deque<RawClient> greedy;
  const std::string request = postRequest("/echo", std::string(500'000, 'x'));
  for (int i = 0; i < 4; ++i) {
    greedy.emplace_back(port);
    greedy.back().send(std::string_view(request).substr(0, 400'000));
  }
  EXPECT_TRUE(greedy.front().isClosed()); // for the sake of the others
  EXPECT_EQ(statusOf(request), 200);
}

TEST_F(HttpServerTest, EndsWithAllKindsOfClients) {
  start();
  std::deque<RawClient> clients;
  for (const std::string &bytes :
       {std::string(), std::string("GET / HT"), getRequest("/stream"),
        getRequest("/flood"), getRequest("/"),
        std::string("POST /echo HTTP/1.1\r\nHost: localhost\r\n"
                    "Content-Length: 100\r\n\r\nx")}) {
    clients.emplace_back(port);
    clients.back().send(bytes);
  }
  EXPECT_NE(clients[3].read(1000).size(), 0u);
  RawClient held(port);
  held.send(getRequest("/hold"));
  holds.wait();
  server->stop();
  release.give();
  EXPECT_EQ(held.answer().body, "held");
  end();
  for (RawClient &client : clients)
    EXPECT_TRUE(client.isClosed());
}

TEST_F(HttpServerTest, HasItsPortAlone) {
  start();
  HttpOptions second;
  second.port = port;
  EXPECT_THROW(HttpServer(second).listen(), std::system_error);
  second.address = "192.0.2.1";
  EXPECT_THROW(HttpServer(second).listen(), std::system_error);
}

TEST_F(HttpServerTest, OutlivedByAnAnswer) {
  options.limits.stopTime = 10ms; // the answer never ends
  std::unique_ptr<HttpAnswer> kept;
  Signal isKept;
  server = std::make_unique<HttpServer>(options);
  server->route("GET", "/keep", [&](HttpRequest &, HttpAnswer answer) {
    kept = std::make_unique<HttpAnswer>(answer);
    isKept.give();
  });
  port = server->listen();
  thread = std::thread([this] { server->run(); });
  RawClient client(port);
  client.send(getRequest("/keep"));
  isKept.wait();
  server->stop();
  thread.join();
  server.reset();
  EXPECT_FALSE(kept->isAwaited());
  kept->begin(200, "text/plain");
  EXPECT_FALSE(kept->write("x"));
}

} // namespace
