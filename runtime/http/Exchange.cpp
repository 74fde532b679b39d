//===- Exchange.cpp - an answer between threads ---------------------------===//

#include "runtime/http/Exchange.h"
#include <algorithm>
#include <boost/beast/http/status.hpp>
#include <cstdio>

using namespace tessera;
using namespace tessera::http;

/// An answer may keep this much unsent when the budget is used up.
static constexpr std::size_t kLeastUnsent = 64 << 10;
/// A writer that waits looks this often whether the budget has room again.
static constexpr std::chrono::milliseconds kBetweenLooks(50);

Exchange::Exchange(const HttpOptions &options,
                   std::shared_ptr<MemoryBudget> budget, AnswerForm form,
                   std::function<void()> wake)
    : options(options), budget(budget), form(std::move(form)),
      wake(std::move(wake)), outShare(budget), bodyShare(budget) {}

/// Returns whether this call is the one that answers.
bool Exchange::start() {
  if (hasBegun || isGone)
    return false;
  bodyShare.set(0);
  return hasBegun = true;
}

static void addHeaders(std::string &text, const HttpHeaders &headers) {
  auto isText = [](char c) { return c != '\r' && c != '\n' && c != '\0'; };
  for (const auto &[name, value] : headers) {
    text += name + ": ";
    std::copy_if(value.begin(), value.end(), std::back_inserter(text), isText);
    text += "\r\n";
  }
}

void Exchange::startLine(int status, std::string_view type,
                         const HttpHeaders &headers,
                         std::optional<std::size_t> length) {
  namespace beast = boost::beast::http;
  const auto known = beast::int_to_status(static_cast<unsigned>(status));
  const auto reason = beast::obsolete_reason(known);
  isChunked = !length && form.knowsChunks;
  if (!length && !form.knowsChunks)
    form.keepsAlive = false;
  std::string text = "HTTP/1.1 " + std::to_string(status) + " " +
                     std::string(reason.data(), reason.size()) + "\r\n";
  addHeaders(text, options.headers);
  addHeaders(text, form.headers);
  addHeaders(text, headers);
  if (status != 204)
    addHeaders(text, {{"Content-Type", std::string(type)}});
  if (isChunked)
    addHeaders(text, {{"Transfer-Encoding", "chunked"}});
  else if (length && status != 204)
    addHeaders(text, {{"Content-Length", std::to_string(*length)}});
  addHeaders(text, {{"Connection", form.keepsAlive ? "keep-alive" : "close"}});
  head = text + "\r\n";
}

/// Adds a piece of which `size` bytes count.
void Exchange::add(Piece piece, std::size_t size) {
  unsent += piece->size();
  counted += size;
  outShare.set(counted);
  pieces.push_back(std::move(piece));
  if (wake)
    wake();
}

void Exchange::finish() {
  isEnded = true;
  if (wake)
    wake();
}

void Exchange::send(int status, std::string_view type, std::string_view body,
                    const HttpHeaders &headers) {
  Lock lock(mutex);
  if (!start())
    return;
  startLine(status, type, headers, body.size());
  if (!form.isHead && status != 204)
    head += body;
  const std::size_t size = head.size();
  add(std::make_shared<std::string>(std::move(head)), size);
  finish();
}

void Exchange::sendShared(std::string_view type, Piece body) {
  Lock lock(mutex);
  if (!start())
    return;
  startLine(200, type, {}, body->size());
  const std::size_t size = head.size();
  add(std::make_shared<std::string>(std::move(head)), size);
  if (!form.isHead)
    add(std::move(body), 0);
  finish();
}

void Exchange::fail(int status, const std::string &why) {
  HttpErrorBody error = {"text/plain; charset=utf-8", why + "\n"};
  {
    Lock lock(mutex);
    if (hasBegun || isGone)
      return;
    if (options.errorBody)
      error = options.errorBody(status, why);
  }
  HttpHeaders headers;
  if (status == 503)
    headers.emplace_back("Retry-After", "1");
  send(status, error.type, error.text, headers);
}

void Exchange::begin(int status, std::string_view type,
                     const HttpHeaders &headers) {
  Lock lock(mutex);
  if (!start())
    return;
  startLine(status, type, headers, std::nullopt);
  const std::size_t size = head.size();
  add(std::make_shared<std::string>(std::move(head)), size);
}

bool Exchange::write(std::string_view part) {
  Lock lock(mutex);
  auto isFull = [&] {
    return unsent >= options.limits.unsentBytes ||
           (unsent >= kLeastUnsent && budget->isOver());
  };
  while (!isGone && !isInVain && isFull()) {
    if (budget->isOver())
      wake(); // others may have to go
    hasRoom.wait_for(lock, kBetweenLooks);
  }
  if (isGone || !hasBegun || isEnded || isFull())
    return false;
  if (part.empty() || form.isHead)
    return true;
  std::string text;
  if (isChunked) {
    char size[24];
    std::snprintf(size, sizeof size, "%zx\r\n", part.size());
    text.append(size).append(part).append("\r\n");
  } else {
    text = part;
  }
  const std::size_t size = text.size();
  add(std::make_shared<std::string>(std::move(text)), size);
  return true;
}

void Exchange::end() {
  Lock lock(mutex);
  if (isGone || !hasBegun || isEnded)
    return;
  if (isChunked && !form.isHead)
    add(std::make_shared<std::string>("0\r\n\r\n"), 0);
  finish();
}

void Exchange::abandon() {
  fail(500, "the request was not answered");
  Lock lock(mutex);
  if (isGone || isEnded)
    return;
  isBroken = true;
  finish();
}

bool Exchange::isAwaited() {
  Lock lock(mutex);
  return !isGone && !isInVain;
}

void Exchange::whenGone(std::function<void()> called) {
  Lock lock(mutex);
  left = std::move(called);
  if (isGone || isInVain)
    tellGone(std::move(lock));
}

void Exchange::holdBody(std::size_t bytes) {
  Lock lock(mutex);
  if (!hasBegun)
    bodyShare.set(bytes);
}

Piece Exchange::next() {
  Lock lock(mutex);
  if (pieces.empty())
    return nullptr;
  Piece piece = std::move(pieces.front());
  pieces.pop_front();
  return piece;
}

void Exchange::sent(std::size_t bytes) {
  Lock lock(mutex);
  unsent -= bytes;
  counted = std::min(counted, unsent);
  outShare.set(counted);
  hasRoom.notify_all();
}

void Exchange::leave() {
  Lock lock(mutex);
  isGone = true;
  wake = nullptr;
  pieces.clear();
  outShare.set(counted = unsent = 0);
  hasRoom.notify_all();
  tellGone(std::move(lock));
}

void Exchange::notAwaited() {
  Lock lock(mutex);
  isInVain = true;
  hasRoom.notify_all();
  tellGone(std::move(lock));
}

void Exchange::tellGone(Lock lock) {
  const std::function<void()> called = std::exchange(left, nullptr);
  lock.unlock();
  if (called)
    called();
}

bool Exchange::hasEnded() {
  Lock lock(mutex);
  return isEnded;
}

bool Exchange::hasBroken() {
  Lock lock(mutex);
  return isBroken;
}

bool Exchange::keepsConnection() {
  Lock lock(mutex);
  return form.keepsAlive && !isBroken;
}
