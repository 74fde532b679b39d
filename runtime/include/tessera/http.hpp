//===- http.hpp - a server of HTTP/1.1 with limits --------------*- C++ -*-===//
// For programs that serve strangers: time and memory of every request are
// bounded, and pages of other sites are refused. C++17; link Tessera::http.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_HTTP_HPP
#define TESSERA_HTTP_HPP

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera {

/// Names and values, in the order in which they are sent.
using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

/// A request whose head and body have come as a whole.
struct HttpRequest {
  std::string method;
  std::string path;  ///< The target before the first '?', not decoded.
  std::string query; ///< The target after it, not decoded.
  HttpHeaders headers;
  std::string body; ///< The frames of chunks are taken off.

  /// Returns the value of the first header of a name, whose case does not
  /// matter, or "".
  std::string header(std::string_view name) const;
};

/// A handler throws it to answer with a status of 400 or more and a reason.
class HttpError : public std::runtime_error {
public:
  HttpError(int status, const std::string &why)
      : std::runtime_error(why), status(status) {}
  const int status;
};

/// Limits that hold for all clients, whatever they send. A client that passes
/// one is told with a status, where it still reads, and its connection is
/// closed.
struct HttpLimits {
  /// The most connections. When one more comes, the connection is closed that
  /// has waited for its client the longest; those whose handlers run stay. The
  /// limit of file descriptors is raised for them as far as the system permits;
  /// if it stays too low, fewer connections are taken.
  std::size_t connections = 512;
  std::size_t targetBytes = 4 << 10; ///< A path with its query (status 414).
  std::size_t headBytes = 16 << 10;  ///< The request line and headers (431).
  std::size_t headers = 100;         ///< The number of headers (431).
  std::size_t bodyBytes = 1 << 20;   ///< A body, chunked or not (413).
  /// The memory of all bodies and unsent answers together, not counting the
  /// first 16 KiB of each. When they need more, the oldest connections whose
  /// handlers do not run are closed, then those that have taken nothing of a
  /// stream for a second; if that is not enough, a body is refused (503). The
  /// malloc of glibc keeps more of large texts that are freed, unless mallopt
  /// fixes M_MMAP_THRESHOLD.
  std::size_t memoryBytes = 16 << 20;
  /// HttpAnswer::write waits while this much of its answer is unsent.
  std::size_t unsentBytes = 1 << 20;
  /// The time from a connection, or from the first byte of a request, to the
  /// end of its head.
  std::chrono::milliseconds headTime{10'000};
  /// The time from the first byte of a request to the end of its body.
  std::chrono::milliseconds requestTime{30'000};
  /// The time between an answer and the next request.
  std::chrono::milliseconds idleTime{15'000};
  /// The time in which a client must take each 64 KiB of an answer.
  std::chrono::milliseconds pieceTime{30'000};
  /// The time that handlers and answers have once the server stops.
  std::chrono::milliseconds stopTime{2'000};
  int workers = 8;   ///< The most threads that handlers run on.
  int waiting = 256; ///< The most requests that wait for one (503).
};

/// The body of an answer that is an error.
struct HttpErrorBody {
  std::string type, text;
};

struct HttpOptions {
  /// A name or a literal address to listen on. Other machines reach all but
  /// loopback addresses.
  std::string address = "127.0.0.1";
  int port = 0; ///< 0: any free port.
  HttpLimits limits;
  /// The names that the header Host may have, besides `localhost` and all
  /// literal addresses. Any other is refused with 403: a page of another site
  /// whose name leads to this machine sends that name ("DNS rebinding").
  std::vector<std::string> hosts;
  /// Sites, as `https://name:port`, whose pages may ask and read the answers.
  /// Pages of the server itself may, too; others are refused with 403.
  std::vector<std::string> origins;
  /// Headers of every answer.
  HttpHeaders headers;
  /// Makes the body of an error; without it, it is a line of text.
  std::function<HttpErrorBody(int status, const std::string &why)> errorBody;
};

namespace http {
class Exchange;
class ServerCore;
} // namespace http

/// The answer to one request, for the threads of its handler and others: copies
/// are the same answer. If the last is destroyed before the end of the answer,
/// the client gets an error. It may outlive the server.
class HttpAnswer {
public:
  /// Answers as a whole. After `begin`, `send` or `fail`, none of these three
  /// has an effect.
  void send(int status, std::string_view type, std::string_view body,
            const HttpHeaders &headers = {});
  /// Answers with the body of an error.
  void fail(int status, const std::string &why);
  /// Begins an answer of parts. With the type `text/event-stream` these are
  /// events.
  void begin(int status, std::string_view type,
             const HttpHeaders &headers = {});
  /// Adds to what was begun. Waits while too much is unsent. Returns false if
  /// the client has gone, or takes too little of it.
  bool write(std::string_view part);
  /// Ends what was begun.
  void end();
  /// Returns false once the client has gone or the server stops: work for the
  /// answer is then in vain. A last part may still be written.
  bool isAwaited() const;
  /// Calls `left` once when `isAwaited` becomes false, from a thread of the
  /// server, or at once. It must not wait.
  void whenGone(std::function<void()> left);

private:
  friend class http::ServerCore;
  struct Handle;
  explicit HttpAnswer(std::shared_ptr<http::Exchange> exchange);
  std::shared_ptr<Handle> handle;
};

/// Listens on one port. One thread serves all connections, so that idle and
/// slow clients cost none; handlers run on others.
class HttpServer {
public:
  /// Answers a request, before it returns or later. An exception becomes an
  /// error, with status 500 unless it is an HttpError.
  using Handler = std::function<void(HttpRequest &request, HttpAnswer answer)>;

  explicit HttpServer(HttpOptions options);
  ~HttpServer();
  HttpServer(const HttpServer &) = delete;
  HttpServer &operator=(const HttpServer &) = delete;

  /// Adds a handler of requests of one method for one path. Handlers of GET
  /// answer HEAD too. Must not be called after `run`.
  void route(const std::string &method, const std::string &path,
             Handler handler);
  /// Adds a text that GET returns; it is in memory once for all clients.
  void page(const std::string &path, const std::string &type, std::string text);

  /// Binds the port and returns it. Throws std::system_error.
  int listen();
  /// Serves until `stop`, then waits for the handlers that run. Needs `listen`
  /// before.
  void run();
  /// Ends `run`; from any thread, also before it. Answers that are awaited get
  /// `stopTime` to end.
  void stop();

private:
  std::unique_ptr<http::ServerCore> core;
};

} // namespace tessera

#endif // TESSERA_HTTP_HPP
