//===- ServerCore.cpp - connections, routes and threads -------------------===//

#include "runtime/http/ServerCore.h"
#include "runtime/http/Connection.h"
#include "runtime/http/Listener.h"
#include <boost/asio/post.hpp>
#include <cerrno>
#include <sys/socket.h>
#include <unistd.h>

using namespace tessera;
using namespace tessera::http;
namespace asio = boost::asio;
using boost::system::error_code;

/// At most this many new connections are accepted before others are served.
static constexpr int kMostAtOnce = 64;
/// A client that takes nothing of an answer for this long may be closed when
/// others need memory.
static constexpr std::chrono::milliseconds kStalled(1'000);
/// When the system has no more descriptors, the server stops accepting for this
/// long.
static constexpr std::chrono::milliseconds kPause(100);

ServerCore::ServerCore(HttpOptions given)
    : options(std::move(given)), policy(options),
      budget(std::make_shared<MemoryBudget>(options.limits.memoryBytes)),
      workers(options.limits.workers, options.limits.waiting), acceptor(io),
      pause(io), grace(io), mostConnections(options.limits.connections) {}

ServerCore::~ServerCore() { closeAll(); }

int ServerCore::listen() {
  const ListenerSocket made = openListener(options.address, options.port);
  acceptor.assign(made.isIPv6 ? asio::ip::tcp::v6() : asio::ip::tcp::v4(),
                  made.socket);
  mostConnections = allowConnections(options.limits.connections);
  return made.port;
}

void ServerCore::run() {
  if (!isStopping)
    accept();
  for (bool isDone = false; !isDone;) {
    try {
      io.run();
      isDone = true;
    } catch (const std::bad_alloc &) {
      // The connection that asked for memory ends by its deadline.
    }
  }
  workers.join();
}

void ServerCore::stop() {
  asio::post(io, [this] { beginStop(); });
}

void ServerCore::beginStop() {
  if (isStopping)
    return;
  isStopping = true;
  error_code ignored;
  acceptor.close(ignored);
  pause.cancel();
  const auto all = connections;
  for (const auto &connection : all)
    connection->stop();
  if (connections.empty())
    return;
  grace.expires_after(options.limits.stopTime);
  grace.async_wait([this](const error_code &error) {
    if (!error)
      closeAll();
  });
}

void ServerCore::closeAll() {
  const auto all = connections;
  for (const auto &connection : all)
    connection->close();
}

void ServerCore::accept() {
  acceptor.async_wait(asio::socket_base::wait_read,
                      [this](const error_code &error) {
                        if (error || isStopping)
                          return;
                        int count = 0;
                        while (count < kMostAtOnce && acceptOne())
                          ++count;
                        if (pause.expiry() <= std::chrono::steady_clock::now())
                          accept();
                      });
}

/// Returns whether there may be more.
bool ServerCore::acceptOne() {
  const int client = acceptClient(acceptor.native_handle());
  if (client >= 0)
    return welcome(client), true;
  if (errno == EINTR || errno == ECONNABORTED)
    return true;
  if (errno == EAGAIN || errno == EWOULDBLOCK)
    return false;
  // There are no descriptors, or no memory.
  if (closeOldest([](const Connection &) { return true; }))
    return true;
  pause.expires_after(kPause);
  pause.async_wait([this](const error_code &error) {
    if (!error && !isStopping)
      accept();
  });
  return false;
}

void ServerCore::welcome(int client) {
  if (connections.size() >= mostConnections &&
      !closeOldest([](const Connection &) { return true; })) {
    constexpr std::string_view kFull =
        "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\n"
        "Content-Length: 0\r\nConnection: close\r\n\r\n";
    (void)::send(client, kFull.data(), kFull.size(),
                 MSG_NOSIGNAL | MSG_DONTWAIT);
    ::close(client);
    return;
  }
  asio::ip::tcp::socket socket(io);
  error_code error;
  socket.assign(acceptor.local_endpoint(error).protocol(), client, error);
  if (error) {
    ::close(client);
    return;
  }
  socket.non_blocking(true, error);
  const auto connection =
      std::make_shared<Connection>(*this, std::move(socket));
  add(connection);
  connection->start();
}

void ServerCore::add(const std::shared_ptr<Connection> &connection) {
  connections.insert(connection);
}

void ServerCore::remove(Connection &connection) {
  waitsForHandler(connection);
  connections.erase(connection.shared_from_this());
  if (isStopping && connections.empty())
    grace.cancel();
}

void ServerCore::waitsForClient(Connection &connection) {
  waitsForHandler(connection);
  connection.place = evictable.insert(evictable.end(), &connection);
  connection.hasPlace = true;
}

void ServerCore::waitsForHandler(Connection &connection) {
  if (connection.hasPlace)
    evictable.erase(connection.place);
  connection.hasPlace = false;
}

bool ServerCore::closeOldest(
    const std::function<bool(const Connection &)> &isMeant) {
  for (Connection *connection : evictable)
    if (isMeant(*connection)) {
      connection->close();
      return true;
    }
  return false;
}

bool ServerCore::makeRoom(const Connection &asking) {
  while (budget->isOver())
    if (!closeOldest([&](const Connection &each) {
          return &each != &asking && each.holdsMemory();
        }) &&
        !closeStalled(asking))
      return false;
  return true;
}

/// Closes the client that has taken nothing for the longest time.
bool ServerCore::closeStalled(const Connection &asking) {
  auto first = std::chrono::steady_clock::now() - kStalled;
  Connection *found = nullptr;
  for (const auto &connection : connections) {
    const auto since = connection->stalledSince();
    if (connection.get() != &asking && since && *since < first) {
      first = *since;
      found = connection.get();
    }
  }
  if (found)
    found->close();
  return found;
}

const Route *ServerCore::find(std::string_view method,
                              const std::string &path) const {
  const auto methods = routes.find(path);
  if (methods == routes.end())
    return nullptr;
  auto found = methods->second.find(method);
  if (found == methods->second.end() && method == "HEAD")
    found = methods->second.find("GET");
  return found == methods->second.end() ? nullptr : &found->second;
}

std::string ServerCore::methodsOf(const std::string &path) const {
  const auto methods = routes.find(path);
  if (methods == routes.end())
    return "";
  std::string list;
  for (const auto &[method, route] : methods->second)
    list += method + (method == "GET" ? ", HEAD, " : ", ");
  return list + "OPTIONS";
}

/// Runs a handler, whose exceptions become errors.
static void runHandler(const HttpServer::Handler &handler, HttpRequest &request,
                       HttpAnswer answer) {
  try {
    handler(request, answer);
  } catch (const HttpError &error) {
    answer.fail(error.status, error.what());
  } catch (const std::exception &error) {
    answer.fail(500, error.what());
  }
}

void ServerCore::answer(HttpRequest request,
                        std::shared_ptr<Exchange> exchange) {
  const Route &route = *find(request.method, request.path);
  if (route.page)
    return exchange->sendShared(route.type, route.page);
  const HttpAnswer answer(exchange);
  const auto shared = std::make_shared<HttpRequest>(std::move(request));
  if (!workers.add([&handler = route.handler, shared, answer] {
        runHandler(handler, *shared, answer);
      }))
    exchange->fail(503, "as many requests as may wait do so; try again later");
}
