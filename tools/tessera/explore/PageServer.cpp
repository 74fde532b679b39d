//===- PageServer.cpp - a page and its questions over HTTP ----------------===//

#include "tools/tessera/explore/PageServer.h"
#include "tessera/http.hpp"
#include <csignal>
#include <pthread.h>
#include <random>
#include <system_error>
#include <thread>

using namespace tessera;

namespace {

constexpr char kAddress[] = "127.0.0.1";
constexpr size_t kMostBytesOfBody = 16 << 10;
/// One plan is compiled and a few wait; the others are told so.
constexpr int kWorkers = 8;
/// The interval at which a client that waits gets a blank, which tells whether
/// it is there.
constexpr auto kBetweenBlanks = std::chrono::milliseconds(200);

/// Nothing but the page itself runs, and it asks nobody but this server.
constexpr char kPolicy[] =
    "default-src 'none'; script-src 'unsafe-inline'; style-src "
    "'unsafe-inline'; img-src data:; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'";

std::string unguessable() {
  std::random_device random;
  std::string text;
  for (int word = 0; word < 4; ++word) {
    char digits[9];
    std::snprintf(digits, sizeof digits, "%08x", random());
    text += digits;
  }
  return text;
}

HttpOptions optionsOf(int port) {
  HttpOptions options;
  options.address = kAddress;
  options.port = port;
  options.limits.bodyBytes = kMostBytesOfBody;
  options.limits.workers = kWorkers;
  options.headers = {{"Content-Security-Policy", kPolicy},
                     {"X-Content-Type-Options", "nosniff"},
                     {"Referrer-Policy", "no-referrer"},
                     {"Cache-Control", "no-store"}};
  options.errorBody = [](int status, const std::string &why) {
    return HttpErrorBody{"text/plain; charset=utf-8",
                         (status == 404 ? "there is nothing here; open the "
                                          "address that tessera explore has "
                                          "printed"
                                        : why) +
                             "\n"};
  };
  return options;
}

void answerTo(const PageService &service, const HttpRequest &request,
              HttpAnswer answer) {
  if (request.header("Content-Type") != "application/json")
    throw HttpError(415, "the content type must be application/json");
  // JSON may begin with blanks.
  answer.begin(200, "application/json");
  auto last = std::chrono::steady_clock::now();
  auto isAwaited = [&] {
    auto now = std::chrono::steady_clock::now();
    if (now - last >= kBetweenBlanks) {
      last = now;
      if (!answer.write(" "))
        return false;
    }
    return answer.isAwaited();
  };
  answer.write(service.answer(request.body, isAwaited));
  answer.end();
}

/// Serves until a signal comes. A thread waits for it, because a handler of
/// signals could not stop a server.
void runUntilSignal(HttpServer &server) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::thread waiter([&] {
    int number = 0;
    sigwait(&signals, &number);
    server.stop();
  });
  server.run();
  waiter.join();
}

} // namespace

std::string
tessera::servePage(const PageService &service, int port,
                   const std::function<void(const std::string &)> &ready) {
  try {
    const std::string root = "/" + unguessable() + "/";
    HttpServer server(optionsOf(port));
    server.page(root, "text/html; charset=utf-8", service.page);
    server.route("POST", root + "compile",
                 [&](HttpRequest &request, HttpAnswer answer) {
                   answerTo(service, request, std::move(answer));
                 });
    const int bound = server.listen();
    ready("http://" + std::string(kAddress) + ":" + std::to_string(bound) +
          root);
    runUntilSignal(server);
    return "";
  } catch (const std::system_error &error) {
    return "cannot listen on " + std::string(kAddress) + ", port " +
           std::to_string(port) + ": " + error.code().message() +
           "; give another --port, or 0 for any";
  } catch (const std::exception &error) {
    return std::string("the server has failed: ") + error.what();
  }
}
