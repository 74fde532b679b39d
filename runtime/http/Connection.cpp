//===- Connection.cpp - one client ----------------------------------------===//

#include "runtime/http/Connection.h"
#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <cstring>

using namespace tessera;
using namespace tessera::http;
namespace asio = boost::asio;
using boost::system::error_code;

/// A client must take this much of an answer within HttpLimits::pieceTime.
static constexpr std::size_t kSliceBytes = 64 << 10;
/// After an answer that ends the connection, the client may send for this long:
/// if the connection were closed at once, the system would drop the answer.
static constexpr std::chrono::milliseconds kLeavingTime(2'000);

Connection::Connection(ServerCore &core, asio::ip::tcp::socket accepted)
    : core(core), socket(std::move(accepted)), deadline(core.io),
      bodyShare(core.budget) {}

void Connection::start() {
  beIdle(core.options.limits.headTime);
  readMore();
}

void Connection::beIdle(std::chrono::milliseconds time) {
  phase = Phase::Idle;
  core.waitsForClient(*this);
  setDeadline(Clock::now() + time);
}

void Connection::close() {
  if (phase == Phase::Closed)
    return;
  phase = Phase::Closed;
  const auto self = shared_from_this();
  error_code ignored;
  if (isSending) // drops what the system holds of the answer, too
    socket.set_option(asio::socket_base::linger(true, 0), ignored);
  socket.close(ignored);
  deadline.cancel();
  bodyShare.set(0);
  if (exchange)
    exchange->leave();
  reader = nullptr;
  piece = nullptr;
  core.remove(*this);
}

void Connection::stop() {
  if (phase != Phase::Handling)
    return close();
  isLast = true;
  exchange->notAwaited();
}

bool Connection::holdsMemory() const {
  return !bodyShare.isFree() || (exchange && !exchange->isFree());
}

std::optional<std::chrono::steady_clock::time_point>
Connection::stalledSince() const {
  if (phase != Phase::Handling || !isSending || !holdsMemory())
    return std::nullopt;
  return sliceBegun;
}

void Connection::setDeadline(Clock::time_point time) {
  deadline.expires_at(time);
  deadline.async_wait([self = shared_from_this()](const error_code &error) {
    // It may have been set again after it was due.
    if (!error && self->deadline.expiry() <= Clock::now())
      self->onDeadline();
  });
}

void Connection::onDeadline() {
  if (phase == Phase::Reading)
    return refuse({408, "the request has taken too long"});
  if (phase != Phase::Handling || isSending)
    close();
}

/// Waits before it chooses where the bytes go: until they come, `in` changes.
void Connection::readMore() {
  if (isReceiving || hasEnd || phase == Phase::Closed || inBytes == in.size())
    return;
  isReceiving = true;
  socket.async_wait(asio::socket_base::wait_read,
                    [self = shared_from_this()](const error_code &error) {
                      self->onReadable(error);
                    });
}

void Connection::onReadable(error_code error) {
  isReceiving = false;
  if (phase == Phase::Closed)
    return;
  if (phase == Phase::Leaving)
    inBytes = 0;
  if (!error && inBytes < in.size())
    inBytes += socket.read_some(
        asio::buffer(in.data() + inBytes, in.size() - inBytes), error);
  if (error == asio::error::eof)
    return onEnd();
  if (error && error != asio::error::would_block)
    return close();
  consume();
  readMore();
}

/// A client that closes its side may still read the answer, but most that do so
/// have gone.
void Connection::onEnd() {
  hasEnd = isLast = true;
  if (isReading() || phase == Phase::Leaving)
    return close();
  exchange->notAwaited();
}

void Connection::beginRequest() {
  phase = Phase::Reading;
  begun = Clock::now();
  reader = std::make_unique<RequestReader>(core.options.limits);
  setDeadline(begun + core.options.limits.headTime);
}

void Connection::consume() {
  while (isReading() && inBytes) {
    if (phase == Phase::Idle)
      beginRequest();
    const bool hadHead = reader->hasHead();
    const std::size_t taken = reader->take({in.data(), inBytes});
    inBytes -= taken;
    std::memmove(in.data(), in.data() + taken, inBytes);
    if (reader->refusal()) {
      isLast = true;
      return refuse(reader->refusal());
    }
    if (reader->hasHead() && !hadHead && !onHead())
      return;
    if (!hasMemory())
      return refuse({503, "the server holds as much as it may; try again"});
    if (reader->isWhole())
      return dispatch();
  }
}

/// Looks at the head before the body comes. Returns whether it is fine.
bool Connection::onHead() {
  const HttpRequest &request = reader->request;
  if (Refusal refusal = core.policy.check(*reader))
    return refuse(refusal), false;
  const std::string methods = core.methodsOf(request.path);
  if (methods.empty() && request.path != "*")
    return refuse({404, "there is nothing at this path"}), false;
  if (!core.find(request.method, request.path) && request.method != "OPTIONS") {
    refuse({405, "this path has the methods " + methods}, {{"Allow", methods}});
    return false;
  }
  setDeadline(begun + core.options.limits.requestTime);
  if (!reader->wantsContinue || inBytes)
    return true;
  constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
  error_code error;
  socket.write_some(asio::buffer(kContinue), error); // nothing else is unsent
  if (error)
    close();
  return !error;
}

bool Connection::hasMemory() {
  bodyShare.set(reader->bodyBytes());
  return bodyShare.isFree() || core.makeRoom(*this);
}

void Connection::makeExchange(HttpHeaders headers) {
  AnswerForm form;
  if (reader->hasHead()) {
    form.isHead = reader->request.method == "HEAD";
    form.knowsChunks = reader->knowsChunks;
    form.headers = core.policy.headersFor(reader->request,
                                          core.methodsOf(reader->request.path));
  }
  form.headers.insert(form.headers.end(), headers.begin(), headers.end());
  // The client may still send a body that nobody takes.
  isLast |= !reader->isWhole() || !reader->keepsAlive || core.isStopping;
  form.keepsAlive = !isLast;
  const std::weak_ptr<Connection> self = weak_from_this();
  exchange = std::make_shared<Exchange>(core.options, core.budget,
                                        std::move(form), [self, &io = core.io] {
                                          asio::post(io, [self] {
                                            if (auto connection = self.lock())
                                              connection->flush();
                                          });
                                        });
}

void Connection::refuse(const Refusal &refusal, HttpHeaders headers) {
  makeExchange(std::move(headers));
  bodyShare.set(0);
  phase = Phase::Handling;
  exchange->fail(refusal.status, refusal.why);
  flush();
}

void Connection::dispatch() {
  const std::string methods = core.methodsOf(reader->request.path);
  const bool isOptions = reader->request.method == "OPTIONS" &&
                         !core.find("OPTIONS", reader->request.path);
  makeExchange({});
  exchange->holdBody(reader->bodyBytes());
  bodyShare.set(0);
  deadline.cancel();
  phase = Phase::Handling;
  core.waitsForHandler(*this);
  if (isOptions)
    exchange->send(204, "", "", {{"Allow", methods}});
  else
    core.answer(std::move(reader->request), exchange);
  reader = nullptr;
  flush();
}

void Connection::flush() {
  if (phase != Phase::Handling && phase != Phase::Flushing)
    return;
  // Asked before what there is to send, as a handler may add to it meanwhile.
  if (phase == Phase::Handling && exchange->hasEnded()) {
    phase = Phase::Flushing;
    core.waitsForClient(*this);
    if (core.isStopping && exchange->hasBroken())
      return close();
  }
  if (core.budget->isOver())
    core.makeRoom(*this);
  if (isSending)
    return;
  if (!piece) {
    piece = exchange->next();
    pieceSent = 0;
  }
  if (piece)
    sendSlice();
  else if (phase == Phase::Flushing)
    onAnswered();
}

void Connection::sendSlice() {
  isSending = true;
  sliceBegun = Clock::now();
  setDeadline(sliceBegun + core.options.limits.pieceTime);
  const std::size_t size = std::min(piece->size() - pieceSent, kSliceBytes);
  asio::async_write(
      socket, asio::buffer(piece->data() + pieceSent, size),
      [self = shared_from_this()](const error_code &error, std::size_t bytes) {
        self->isSending = false;
        if (error || self->phase == Phase::Closed)
          return self->close();
        self->deadline.cancel();
        self->pieceSent += bytes;
        if (self->pieceSent == self->piece->size())
          self->piece = nullptr;
        self->exchange->sent(bytes);
        self->flush();
      });
}

void Connection::onAnswered() {
  const bool isKept = exchange->keepsConnection() && !isLast;
  exchange->leave();
  exchange = nullptr;
  reader = nullptr;
  if (!isKept || core.isStopping)
    return leave();
  beIdle(core.options.limits.idleTime);
  consume();
  readMore();
}

void Connection::leave() {
  error_code error;
  socket.shutdown(asio::socket_base::shutdown_send, error);
  if (error || hasEnd || core.isStopping)
    return close();
  phase = Phase::Leaving;
  inBytes = 0;
  setDeadline(Clock::now() + kLeavingTime);
  readMore();
}
