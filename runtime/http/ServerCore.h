//===- ServerCore.h - connections, routes and threads -----------*- C++ -*-===//
// All but what is said to be for any thread is for the thread of `run`.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_HTTP_SERVERCORE_H
#define TESSERA_RUNTIME_HTTP_SERVERCORE_H

#include "runtime/http/Exchange.h"
#include "runtime/http/SitePolicy.h"
#include "runtime/http/WorkerPool.h"
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <list>
#include <map>
#include <unordered_set>

namespace tessera::http {

class Connection;

/// What answers a path: a handler, or a page.
struct Route {
  HttpServer::Handler handler;
  std::string type;
  Piece page;
};

/// By method.
using Routes = std::map<std::string, Route, std::less<>>;

class ServerCore {
public:
  explicit ServerCore(HttpOptions options);
  ~ServerCore();

  int listen();
  void run();
  void stop(); ///< From any thread.

  /// Answers a request that has come as a whole.
  void answer(HttpRequest request, std::shared_ptr<Exchange> exchange);
  /// Returns the methods of a path, GET with HEAD; "": there is no such path.
  std::string methodsOf(const std::string &path) const;
  const Route *find(std::string_view method, const std::string &path) const;

  /// Those that wait for their client may be closed for the sake of others, the
  /// first to come first.
  void add(const std::shared_ptr<Connection> &connection);
  void remove(Connection &connection);
  void waitsForClient(Connection &connection);
  void waitsForHandler(Connection &connection);
  /// Closes others until the budget holds. Returns whether it does.
  bool makeRoom(const Connection &asking);

  const HttpOptions options;
  const SitePolicy policy;
  const std::shared_ptr<MemoryBudget> budget;
  std::map<std::string, Routes> routes; ///< By path.
  boost::asio::io_context io{1};
  bool isStopping = false;

private:
  void accept();
  bool acceptOne();
  void welcome(int socket);
  bool closeOldest(const std::function<bool(const Connection &)> &isMeant);
  bool closeStalled(const Connection &asking);
  void beginStop();
  void closeAll();

  WorkerPool workers;
  boost::asio::ip::tcp::acceptor acceptor;
  boost::asio::steady_timer pause, grace;
  std::unordered_set<std::shared_ptr<Connection>> connections;
  std::list<Connection *> evictable;
  std::size_t mostConnections;
};

} // namespace tessera::http

#endif // TESSERA_RUNTIME_HTTP_SERVERCORE_H
