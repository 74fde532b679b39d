//===- Connection.h - one client --------------------------------*- C++ -*-===//
// A state machine on the thread of the server. Each state ends in time.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_HTTP_CONNECTION_H
#define TESSERA_RUNTIME_HTTP_CONNECTION_H

#include "runtime/http/ServerCore.h"
#include <array>

namespace tessera::http {

class Connection : public std::enable_shared_from_this<Connection> {
public:
  Connection(ServerCore &core, boost::asio::ip::tcp::socket socket);

  void start();
  void close();
  /// Closes it, or lets its handler end the answer.
  void stop();
  bool holdsMemory() const;
  /// Returns the time since which the client has taken nothing of an answer
  /// that goes on.
  std::optional<std::chrono::steady_clock::time_point> stalledSince() const;

  /// Its place among those that may be closed, if it is one of them.
  std::list<Connection *>::iterator place;
  bool hasPlace = false;

private:
  using Clock = std::chrono::steady_clock;
  enum class Phase {
    Idle,     ///< No request has begun.
    Reading,  ///< A request has begun.
    Handling, ///< Its handler may add to the answer.
    Flushing, ///< The answer waits for the client.
    Leaving,  ///< The answer is sent; bytes that still come are dropped.
    Closed
  };

  bool isReading() const {
    return phase == Phase::Idle || phase == Phase::Reading;
  }
  void readMore();
  void onReadable(boost::system::error_code error);
  void onEnd();
  void consume();
  void beginRequest();
  bool onHead();
  bool hasMemory();
  void refuse(const Refusal &refusal, HttpHeaders headers = {});
  void makeExchange(HttpHeaders headers);
  void dispatch();
  void flush();
  void sendSlice();
  void onAnswered();
  void beIdle(std::chrono::milliseconds time);
  void leave();
  void setDeadline(Clock::time_point time);
  void onDeadline();

  ServerCore &core;
  boost::asio::ip::tcp::socket socket;
  boost::asio::steady_timer deadline;
  Phase phase = Phase::Idle;
  std::array<char, 8 << 10> in;
  std::size_t inBytes = 0;
  bool isReceiving = false, isSending = false;
  bool hasEnd = false;     ///< The client sends nothing more.
  bool isLast = false;     ///< No request follows.
  Clock::time_point begun; ///< The first byte of the request came.
  std::unique_ptr<RequestReader> reader;
  MemoryShare bodyShare;
  std::shared_ptr<Exchange> exchange;
  Piece piece; ///< The one that is being sent, from `pieceSent` on.
  std::size_t pieceSent = 0;
  Clock::time_point sliceBegun;
};

} // namespace tessera::http

#endif // TESSERA_RUNTIME_HTTP_CONNECTION_H
