//===- RequestReaderTest.cpp - which bytes are a request ------------------===//

#include "runtime/http/RequestReader.h"

#include <gtest/gtest.h>
#include <vector>

using namespace tessera;
using http::RequestReader;

namespace {

/// The result of reading bytes: the status of a refusal, or the request.
struct Outcome {
  int status = 0;
  bool isWhole = false;
  std::string method, path, query, body, rest;

  friend bool operator==(const Outcome &a, const Outcome &b) {
    return a.status == b.status && a.isWhole == b.isWhole &&
           a.method == b.method && a.path == b.path && a.query == b.query &&
           a.body == b.body && a.rest == b.rest;
  }
};

HttpLimits smallLimits() {
  HttpLimits limits;
  limits.targetBytes = 100;
  limits.headBytes = 600;
  limits.headers = 20;
  limits.bodyBytes = 1000;
  return limits;
}

/// Gives the bytes in pieces of a size.
Outcome readIn(std::string_view bytes, std::size_t pieces) {
  const HttpLimits limits = smallLimits();
  RequestReader reader(limits);
  std::size_t at = 0;
  while (at < bytes.size() && !reader.refusal() && !reader.isWhole()) {
    std::string_view piece = bytes.substr(at, pieces);
    while (!piece.empty() && !reader.refusal() && !reader.isWhole()) {
      const std::size_t taken = reader.take(piece);
      piece.remove_prefix(taken);
      at += taken;
    }
  }
  const HttpRequest &request = reader.request;
  if (reader.refusal())
    return {reader.refusal().status, false, "", "", "", "", ""};
  return {0,
          reader.isWhole(),
          request.method,
          request.path,
          request.query,
          request.body,
          reader.isWhole() ? std::string(bytes.substr(at)) : ""};
}

/// Reads bytes as a whole and in pieces, which must make no difference.
Outcome outcomeOf(std::string_view bytes) {
  const Outcome whole = readIn(bytes, bytes.size());
  for (std::size_t pieces : {1, 2, 3, 5, 7, 64})
    EXPECT_TRUE(readIn(bytes, pieces) == whole) << pieces << "\n" << bytes;
  return whole;
}

std::string post(const std::string &headers, const std::string &rest = "") {
  return "POST /a?b=c HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n" +
         rest;
}

const std::string kChunked = "Transfer-Encoding: chunked\r\n";

std::string chunk(const std::string &text, const std::string &extension = "") {
  char size[24];
  std::snprintf(size, sizeof size, "%zx", text.size());
  return size + extension + "\r\n" + text + "\r\n";
}

TEST(RequestReader, TakesOneRequestAndLeavesTheNext) {
  const Outcome plain = outcomeOf(post("", "GET /next"));
  EXPECT_TRUE(plain.isWhole && plain.method == "POST" && plain.path == "/a");
  EXPECT_EQ(plain.query, "b=c");
  EXPECT_EQ(plain.rest, "GET /next");
  const Outcome length = outcomeOf(post("Content-Length: 4\r\n", "bodyGET"));
  EXPECT_EQ(length.body, "body");
  EXPECT_EQ(length.rest, "GET");
  EXPECT_FALSE(outcomeOf(post("Content-Length: 4\r\n", "bod")).isWhole);
}

TEST(RequestReader, TakesChunks) {
  const std::string text = chunk("Hello", ";a=b;c=\"d \\\" e\"") +
                           chunk(", world") + "0\r\nTrailer: x\r\n\r\nrest";
  const Outcome chunks = outcomeOf(post(kChunked, text));
  EXPECT_EQ(chunks.body, "Hello, world");
  EXPECT_EQ(chunks.rest, "rest");
  EXPECT_EQ(outcomeOf(post(kChunked, "0\r\n\r\nrest")).rest, "rest");
  std::string single;
  for (char c : std::string("one byte to a chunk, as some clients do it"))
    single += chunk({c});
  EXPECT_TRUE(outcomeOf(post(kChunked, single + "0\r\n\r\n")).isWhole);
}

TEST(RequestReader, LimitsBodiesOfEveryEncoding) {
  const std::string most(1000, 'x'), more(1001, 'x');
  EXPECT_EQ(outcomeOf(post("Content-Length: 1000\r\n", most)).body, most);
  EXPECT_EQ(outcomeOf(post("Content-Length: 1001\r\n")).status, 413);
  EXPECT_EQ(outcomeOf(post(kChunked, chunk(most) + "0\r\n\r\n")).body, most);
  EXPECT_EQ(outcomeOf(post(kChunked, chunk(more))).status, 413);
  EXPECT_EQ(outcomeOf(post(kChunked, chunk(most) + chunk("x"))).status, 413);
  for (const char *size : {"7fffffffffffffff", "ffffffffffffffff", "3e9"})
    EXPECT_EQ(outcomeOf(post(kChunked, std::string(size) + "\r\n")).status, 413)
        << size;
}

TEST(RequestReader, LimitsWhatIsAroundChunks) {
  EXPECT_EQ(outcomeOf(post(kChunked, std::string(2000, '0'))).status, 400);
  const std::string longExtension = ";" + std::string(2000, 'e');
  EXPECT_EQ(outcomeOf(post(kChunked, "1" + longExtension)).status, 400);
  std::string extensions;
  for (int i = 0; i < 100; ++i)
    extensions += chunk("x", ";" + std::string(50, 'e'));
  EXPECT_EQ(outcomeOf(post(kChunked, extensions)).status, 400);
  std::string trailers = "0\r\n";
  for (int i = 0; i < 200; ++i)
    trailers += "Trailer: x\r\n";
  EXPECT_EQ(outcomeOf(post(kChunked, trailers)).status, 400);
}

TEST(RequestReader, LimitsHeads) {
  EXPECT_EQ(outcomeOf("GET /" + std::string(200, 'x')).status, 414);
  EXPECT_EQ(outcomeOf(std::string(200, 'G')).status, 414);
  EXPECT_EQ(outcomeOf(post("X: " + std::string(700, 'y'))).status, 431);
  EXPECT_EQ(outcomeOf(post(std::string(700, 'y'))).status, 431);
  std::string many;
  for (int i = 0; i < 30; ++i)
    many += "X: y\r\n";
  EXPECT_EQ(outcomeOf(post(many)).status, 431);
}

TEST(RequestReader, RefusesWhatReadersTakeInSeveralWays) {
  const std::string length = "Content-Length: 4\r\n";
  const std::vector<std::string> bad = {
      post(length + kChunked),
      post(kChunked + length),
      post(length + length),
      post(length + "Content-Length: 5\r\n"),
      post("Content-Length: 4, 4\r\n"),
      post("Content-Length: +4\r\n"),
      post("Content-Length: -4\r\n"),
      post("Content-Length: 0x4\r\n"),
      post("Content-Length: 4 4\r\n"),
      post("Content-Length:\r\n"),
      post("Content-Length: 99999999999999999999\r\n"),
      post("Content-Length : 4\r\n"),
      post(kChunked + kChunked),
      post("Transfer-Encoding : chunked\r\n"),
      post("Transfer-Encoding:\r\n chunked\r\n"),
      post("X: y\r\n folded\r\n"),
      post("X: y\r\n\tfolded\r\n"),
      post(" X: y\r\n"),
      post("X\r\n"),
      post(": y\r\n"),
      post("X: a\rb\r\n"),
      post("X: a\nY: b\r\n"),
      post("X: a\n\n"),
      post(std::string("X: a\0b\r\n", 8)),
      post("X: a\x01\r\n"),
      post("X\x80: a\r\n"),
      "GET / HTTP/1.1\nHost: localhost\n\n",
      "GET  / HTTP/1.1\r\n\r\n",
      "GET http://localhost/ HTTP/1.1\r\n\r\n",
      "GET * HTTP/1.1\r\n\r\n",
      "CONNECT localhost:80 HTTP/1.1\r\n\r\n",
      "GET\t/ HTTP/1.1\r\n\r\n",
      "G@T / HTTP/1.1\r\n\r\n",
      "\r\nGET / HTTP/1.1\r\n\r\n",
      std::string("\x16\x03\x01\x02\x00\x01", 6), // TLS
      std::string(100, '\0'),
      "POST / HTTP/1.0\r\nHost: a\r\n" + kChunked + "\r\n"};
  for (const std::string &bytes : bad)
    EXPECT_EQ(outcomeOf(bytes).status, 400) << bytes;
}

TEST(RequestReader, RefusesChunksThatReadersTakeInSeveralWays) {
  for (const std::string text :
       {"5\nHello\r\n0\r\n\r\n", "5\r\nHello\n0\r\n\r\n",
        "5\r\nHelloX\r\n0\r\n", "0x5\r\nHello\r\n\r\n\r\n", "+5\r\nHello\r\n",
        "-5\r\nHello\r\n", " 5\r\nHello\r\n", "5 \r\nHello\r\n",
        "5;\r\nHello\r\n", "5;a=\r\nHello\r\n", "\r\nHello", "g\r\n",
        "5\rHello\r\n", "10000000000000000\r\n",
        "0\r\nContent-Length: 3\r\n\r\n", "0\r\nX: a\nb\r\n\r\n",
        "5;a=\"\n\"\r\nHello\r\n", "5;a=\"\x7f\"\r\nHello\r\n",
        "0;a=\"\n\"\r\n\r\n"})
    EXPECT_EQ(outcomeOf(post(kChunked, text)).status, 400) << text;
}

TEST(RequestReader, RefusesWhatItDoesNotKnow) {
  for (const char *encoding : {"gzip, chunked", "chunked, gzip", "identity",
                               "gzip", "xchunked", "chunked;q=1"})
    EXPECT_EQ(
        outcomeOf(post("Transfer-Encoding: " + std::string(encoding) + "\r\n"))
            .status,
        501)
        << encoding;
  EXPECT_EQ(outcomeOf(post("Content-Encoding: gzip\r\n")).status, 415);
  EXPECT_FALSE(outcomeOf(post("Content-Encoding: identity\r\n")).status);
  EXPECT_EQ(outcomeOf(post("Expect: tea\r\n")).status, 417);
  EXPECT_EQ(outcomeOf("GET / HTTP/2.0\r\n\r\n").status, 505);
  EXPECT_EQ(outcomeOf("GET / HTTP/1.2\r\n\r\n").status, 505);
  EXPECT_EQ(outcomeOf("GET / HTTP/1.1 \r\n\r\n").status, 505);
  EXPECT_EQ(outcomeOf("GET /a b HTTP/1.1\r\n\r\n").status, 505);
}

TEST(RequestReader, SaysWhetherAConnectionGoesOn) {
  const HttpLimits limits;
  auto keeps = [&](const std::string &bytes) {
    RequestReader reader(limits);
    reader.take(bytes);
    return reader.keepsAlive;
  };
  EXPECT_TRUE(keeps("GET / HTTP/1.1\r\n\r\n"));
  EXPECT_FALSE(keeps("GET / HTTP/1.1\r\nConnection: Close\r\n\r\n"));
  EXPECT_FALSE(keeps("GET / HTTP/1.0\r\n\r\n"));
  EXPECT_TRUE(keeps("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"));
}

} // namespace
