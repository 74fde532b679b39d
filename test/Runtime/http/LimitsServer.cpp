//===- LimitsServer.cpp - a server that strangers attack ------------------===//
// Prints its port. A process of its own, so that its memory can be measured.

#include "tessera/http.hpp"

#include <csignal>
#include <cstdio>
#include <malloc.h>
#include <pthread.h>
#include <thread>

using namespace tessera;

static void echo(HttpRequest &request, HttpAnswer answer) {
  answer.send(200, "text/plain", request.body);
}

/// Writes as long as somebody reads.
static void stream(HttpRequest &, HttpAnswer answer) {
  answer.begin(200, "text/event-stream");
  while (answer.isAwaited() && answer.write(std::string(1000, 'x')))
    ;
}

int main() {
  // Large texts are given back to the system, as http.hpp advises.
  mallopt(M_MMAP_THRESHOLD, 128 << 10);
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  HttpOptions options;
  options.limits.stopTime = std::chrono::milliseconds(200);
  HttpServer server(options);
  server.page("/", "text/html", std::string(600 << 10, 'p'));
  server.route("POST", "/echo", echo);
  server.route("GET", "/stream", stream);
  std::printf("%d\n", server.listen());
  std::fflush(stdout);
  std::thread waiter([&] {
    int number = 0;
    sigwait(&signals, &number);
    server.stop();
  });
  server.run();
  waiter.join();
}
