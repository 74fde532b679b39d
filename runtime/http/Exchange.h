//===- Exchange.h - an answer between threads -------------------*- C++ -*-===//
// Handlers add pieces to it from any thread; its connection takes them.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_HTTP_EXCHANGE_H
#define TESSERA_RUNTIME_HTTP_EXCHANGE_H

#include "runtime/http/MemoryBudget.h"
#include "tessera/http.hpp"
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>

namespace tessera::http {

/// The form of an answer, which follows from its request.
struct AnswerForm {
  bool isHead = false;     ///< The answer has no body.
  bool knowsChunks = true; ///< If not, a stream ends with the connection.
  bool keepsAlive = false; ///< The connection is used again.
  HttpHeaders headers;     ///< The answer has them besides its own.
};

/// Text that answers may have in common.
using Piece = std::shared_ptr<const std::string>;

class Exchange {
public:
  /// The options outlive the connection. `wake` tells it of news.
  Exchange(const HttpOptions &options, std::shared_ptr<MemoryBudget> budget,
           AnswerForm form, std::function<void()> wake);

  // The handler calls these through HttpAnswer.
  void send(int status, std::string_view type, std::string_view body,
            const HttpHeaders &headers);
  void fail(int status, const std::string &why);
  void begin(int status, std::string_view type, const HttpHeaders &headers);
  bool write(std::string_view part);
  void end();
  bool isAwaited();
  void whenGone(std::function<void()> left);
  /// Ends the answer as an error, if nothing has ended it.
  void abandon();

  /// Answers with a text that is not copied.
  void sendShared(std::string_view type, Piece body);
  /// Counts the body of the request until the answer begins.
  void holdBody(std::size_t bytes);

  // The connection calls these.
  Piece next();
  void sent(std::size_t bytes);
  /// Says that nothing can be sent any more, and wakes the connection no more.
  void leave();
  /// Says that the answer is in vain, though it may still be sent.
  void notAwaited();
  bool hasEnded();
  bool hasBroken(); ///< It was abandoned before its end.
  /// Returns whether the connection may be used again once all is sent.
  bool keepsConnection();
  bool isFree() const { return outShare.isFree() && bodyShare.isFree(); }

private:
  using Lock = std::unique_lock<std::mutex>;
  bool start();
  void startLine(int status, std::string_view type, const HttpHeaders &headers,
                 std::optional<std::size_t> length);
  void finish();
  void add(Piece piece, std::size_t counted);
  void tellGone(Lock lock);

  const HttpOptions &options;
  const std::shared_ptr<MemoryBudget> budget;
  AnswerForm form;
  std::mutex mutex;
  std::condition_variable hasRoom;
  std::function<void()> wake, left;
  std::string head; ///< Waits for the first piece of a body.
  std::deque<Piece> pieces;
  std::size_t unsent = 0, counted = 0;
  MemoryShare outShare, bodyShare;
  bool hasBegun = false, isChunked = false, isEnded = false, isBroken = false;
  bool isGone = false, isInVain = false;
};

} // namespace tessera::http

#endif // TESSERA_RUNTIME_HTTP_EXCHANGE_H
