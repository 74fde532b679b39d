//===- RequestReader.h - the bytes of a request, checked --------*- C++ -*-===//
// It is strict where readers of HTTP differ, so that no two of them can take
// the same bytes for different requests ("request smuggling"). It reads no
// socket.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_HTTP_REQUESTREADER_H
#define TESSERA_RUNTIME_HTTP_REQUESTREADER_H

#include "tessera/http.hpp"

namespace tessera::http {

struct Refusal {
  int status = 0; ///< 0: none.
  std::string why;
  explicit operator bool() const { return status != 0; }
};

class RequestReader {
public:
  explicit RequestReader(const HttpLimits &limits);
  ~RequestReader();

  /// Takes bytes and returns how many. Stops after the head, after the body,
  /// and where it refuses.
  std::size_t take(std::string_view bytes);

  const Refusal &refusal() const { return refused; }
  bool hasBegun() const { return !head.empty() || hasHead(); }
  bool hasHead() const { return stage != Stage::Head; }
  bool isWhole() const { return stage == Stage::Whole; }
  /// Returns the bytes of the body that are in memory.
  std::size_t bodyBytes() const;
  /// Returns how many headers have the name.
  std::size_t count(std::string_view name) const;

  /// Its fields are set once the head has come, and its body at the end.
  HttpRequest request;
  bool wantsContinue = false; ///< The client waits for 100 before its body.
  bool keepsAlive = false;    ///< The connection is for more requests.
  bool knowsChunks = false;   ///< An answer may be chunked.

private:
  enum class Stage { Head, Body, Whole };
  struct Parser;

  void refuse(int status, const std::string &why) { refused = {status, why}; }
  std::size_t takeHead(std::string_view bytes);
  std::size_t takeBody(std::string_view bytes);
  void check(char c);
  void checkLimits();
  void finishHead();
  void readTarget(std::string_view target);
  void checkFraming();
  void checkBody();
  void finishBody();

  const HttpLimits &limits;
  std::unique_ptr<Parser> parser;
  Stage stage = Stage::Head;
  Refusal refused;
  std::string head, pending; ///< `pending` is a part of a chunk's frame.
  std::size_t lines = 0, lineBegin = 0;
  std::size_t bodyWire = 0; ///< Bytes of the body with its chunks' frames.
};

/// Compares two texts; the case of ASCII letters does not matter.
bool isSameText(std::string_view a, std::string_view b);

} // namespace tessera::http

#endif // TESSERA_RUNTIME_HTTP_REQUESTREADER_H
