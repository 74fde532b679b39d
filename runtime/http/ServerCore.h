//===- ServerCore.h - connections, routes and threads -----------*- C++ -*-===//
// Only the thread of `run` calls its functions, unless one says otherwise.
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

/// A handler or a page that answers requests for a path.
struct Route {
  HttpServer::Handler handler;
  std::string type;
  Piece page;
};

/// The routes of a path by their methods.
using Routes = std::map<std::string, Route, std::less<>>;

class ServerCore {
public:
  explicit ServerCore(HttpOptions options);
  ~ServerCore();

  int listen();
  void run();
  void stop(); ///< May be called from any thread.

  /// Answers a request that has come as a whole.
  void answer(HttpRequest request, std::shared_ptr<Exchange> exchange);
  /// Returns the methods of a path, GET with HEAD; "": there is no such path.
  std::string methodsOf(const std::string &path) const;
  const Route *find(std::string_view method, const std::string &path) const;

  /// Connections that wait for their clients may be closed for the sake of
  /// others; the one that has waited longest is closed first.
  void add(const std::shared_ptr<Connection> &connection);
  void remove(Connection &connection);
  void waitsForClient(Connection &connection);
  void waitsForHandler(Connection &connection);
  /// Closes others until the budget holds. Returns whether it does.
  bool makeRoom(const Connection &asking);

  const HttpOptions options;
  const SitePolicy policy;
  const std::shared_ptr<MemoryBudget> budget;
  std::map<std::string, Routes> routes; ///< Their keys are paths.
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
