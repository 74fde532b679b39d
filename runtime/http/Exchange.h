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

/// What a request says about the form of its answer.
struct AnswerForm {
  bool isHead = false;     ///< Without a body.
  bool knowsChunks = true; ///< Else the end of a stream closes it.
  bool keepsAlive = false; ///< The connection is used again.
  HttpHeaders headers;     ///< That the answer has besides its own.
};

/// Text that answers may have in common.
using Piece = std::shared_ptr<const std::string>;

class Exchange {
public:
  /// The options outlive the connection. `wake` tells it of news.
  Exchange(const HttpOptions &options, std::shared_ptr<MemoryBudget> budget,
           AnswerForm form, std::function<void()> wake);

  // Those of HttpAnswer.
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

  // Those of the connection.
  Piece next();
  void sent(std::size_t bytes);
  /// Nothing can be sent any more, and nobody is told.
  void leave();
  /// The answer is in vain, though it may still be sent.
  void notAwaited();
  bool hasEnded();
  bool hasBroken(); ///< It has ended before its end.
  /// Returns whether the connection may be used again; if all is sent.
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
