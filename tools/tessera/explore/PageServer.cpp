//===- PageServer.cpp - a page and its questions over HTTP ----------------===//

#include "tools/tessera/explore/PageServer.h"
#include <atomic>
#include <csignal>
#include <cstring>
#include <httplib.h>
#include <pthread.h>
#include <random>
#include <thread>

using namespace tessera;

namespace {

constexpr char kAddress[] = "127.0.0.1";
constexpr size_t kMostBytesOfBody = 16 << 10;
/// How long a client may take to say something.
constexpr int kSeconds = 5;
/// How often a client that waits gets a blank, which tells whether it is there.
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

/// A page of another site that has its name lead to this machine sends that
/// name ("DNS rebinding").
bool isOwnHost(const std::string &host) {
  for (const std::string name : {kAddress, "localhost"}) {
    bool isPort = host.size() > name.size() && host[name.size()] == ':' &&
                  host.find_first_not_of("0123456789", name.size() + 1) ==
                      std::string::npos;
    if (host == name || (isPort && host.compare(0, name.size(), name) == 0))
      return true;
  }
  return false;
}

class Server {
public:
  Server(const PageService &service, const std::string &root)
      : service(service), root(root) {
    server.set_read_timeout(kSeconds);
    server.set_write_timeout(kSeconds);
    server.set_keep_alive_timeout(1); // a stop waits for it
    server.set_payload_max_length(kMostBytesOfBody);
    // Unlike the library's own, two servers cannot have one port.
    server.set_socket_options([](socket_t socket) {
      int yes = 1;
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    server.set_default_headers({{"Content-Security-Policy", kPolicy},
                                {"X-Content-Type-Options", "nosniff"},
                                {"Referrer-Policy", "no-referrer"},
                                {"Cache-Control", "no-store"}});
    addRoutes();
  }

  /// Returns the port, or -1.
  int bind(int port) {
    if (!port)
      return server.bind_to_any_port(kAddress);
    return server.bind_to_port(kAddress, port) ? port : -1;
  }
  void run();

private:
  void addRoutes();
  bool refuse(const httplib::Request &request, httplib::Response &response);
  void answer(const httplib::Request &request, httplib::Response &response);

  const PageService &service;
  const std::string root;
  httplib::Server server;
  std::atomic<bool> isStopping{false};
};

bool refuseWith(httplib::Response &response, int status, const char *why) {
  response.status = status;
  response.set_content(std::string(why) + "\n", "text/plain; charset=utf-8");
  return true;
}

/// Whether a request is not one of the page, or of who opens it.
bool Server::refuse(const httplib::Request &request,
                    httplib::Response &response) {
  if (request.get_header_value_count("Host") != 1 ||
      !isOwnHost(request.get_header_value("Host")))
    return refuseWith(response, 403,
                      "the header Host must be 127.0.0.1 or localhost");
  std::string origin = request.get_header_value("Origin");
  if (!origin.empty() && origin != "http://" + request.get_header_value("Host"))
    return refuseWith(response, 403, "pages of other sites may not ask");
  return false;
}

void Server::answer(const httplib::Request &request,
                    httplib::Response &response) {
  if (request.get_header_value("Content-Type") != "application/json") {
    refuseWith(response, 415, "the content type must be application/json");
    return;
  }
  // JSON may begin with blanks.
  auto answerTo = [this, body = request.body](size_t, httplib::DataSink &sink) {
    auto last = std::chrono::steady_clock::now();
    auto isAwaited = [&] {
      auto now = std::chrono::steady_clock::now();
      if (now - last >= kBetweenBlanks) {
        last = now;
        if (!sink.is_writable() || !sink.write(" ", 1))
          return false;
      }
      return !isStopping.load();
    };
    std::string text = service.answer(body, isAwaited);
    bool isWritten = sink.write(text.data(), text.size());
    sink.done();
    return isWritten;
  };
  response.set_chunked_content_provider("application/json", answerTo);
}

void Server::addRoutes() {
  server.set_pre_routing_handler([this](const auto &request, auto &response) {
    return refuse(request, response)
               ? httplib::Server::HandlerResponse::Handled
               : httplib::Server::HandlerResponse::Unhandled;
  });
  server.Get("/" + root + "/", [this](const auto &, auto &response) {
    response.set_content(service.page, "text/html; charset=utf-8");
  });
  server.Post("/" + root + "/compile",
              [this](const auto &request, auto &response) {
                answer(request, response);
              });
  server.set_error_handler([](const auto &, auto &response) {
    if (response.body.empty())
      response.set_content("there is nothing here; open the address that "
                           "tessera explore has printed\n",
                           "text/plain; charset=utf-8");
  });
}

/// A signal is waited for by a thread, as a handler could not stop a server.
void Server::run() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::thread waiter([&] {
    int number = 0;
    sigwait(&signals, &number);
    isStopping = true;
    server.stop();
  });
  server.listen_after_bind();
  if (!isStopping) // it has failed
    pthread_kill(waiter.native_handle(), SIGTERM);
  waiter.join();
}

} // namespace

std::string
tessera::servePage(const PageService &service, int port,
                   const std::function<void(const std::string &)> &ready) {
  try {
    std::string root = unguessable();
    Server server(service, root);
    int bound = server.bind(port);
    if (bound < 0)
      return "cannot listen on 127.0.0.1, port " + std::to_string(port) + ": " +
             std::strerror(errno) + "; give another --port, or 0 for any";
    ready("http://" + std::string(kAddress) + ":" + std::to_string(bound) +
          "/" + root + "/");
    server.run();
    return "";
  } catch (const std::exception &error) {
    return std::string("the server has failed: ") + error.what();
  }
}
