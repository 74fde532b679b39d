//===- RequestReader.cpp - the bytes of a request, checked ----------------===//

#include "runtime/http/RequestReader.h"
#include <algorithm>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

using namespace tessera;
using namespace tessera::http;
namespace beast = boost::beast::http;

/// Bytes that frames may take for each byte of a body: "1\r\nx\r\n" is five.
static constexpr std::size_t kMostFrame = 8;

/// Beast lets any byte into a quoted extension of a chunk; to some readers a
/// line ends with LF alone.
static bool isPlain(std::string_view extension) {
  return std::all_of(extension.begin(), extension.end(),
                     [](char c) { return c == '\t' || (c >= ' ' && c < 127); });
}

struct RequestReader::Parser {
  beast::request_parser<beast::string_body> of;
  /// The parser refers to it.
  std::function<void(std::uint64_t, boost::beast::string_view,
                     boost::system::error_code &)>
      onChunk = [](std::uint64_t, boost::beast::string_view extension,
                   boost::system::error_code &error) {
        if (!isPlain({extension.data(), extension.size()}))
          error = beast::error::bad_chunk_extension;
      };
};

bool http::isSameText(std::string_view a, std::string_view b) {
  auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

std::string HttpRequest::header(std::string_view name) const {
  for (const auto &[each, value] : headers)
    if (isSameText(each, name))
      return value;
  return "";
}

RequestReader::RequestReader(const HttpLimits &limits)
    : limits(limits), parser(std::make_unique<Parser>()) {
  // The parser applies its limit to each piece alone; checkLimits() and
  // takeBody() count what comes in all.
  parser->of.header_limit(static_cast<std::uint32_t>(
      std::min<std::size_t>(2 * limits.headBytes, UINT32_MAX)));
  parser->of.body_limit(limits.bodyBytes);
  parser->of.eager(true);
  parser->of.on_chunk_header(parser->onChunk);
}

RequestReader::~RequestReader() = default;

std::size_t RequestReader::bodyBytes() const {
  return parser->of.get().body().size() + request.body.size();
}

std::size_t RequestReader::count(std::string_view name) const {
  return std::count_if(
      request.headers.begin(), request.headers.end(),
      [&](const auto &header) { return isSameText(header.first, name); });
}

std::size_t RequestReader::take(std::string_view bytes) {
  if (refused || isWhole())
    return 0;
  return stage == Stage::Head ? takeHead(bytes) : takeBody(bytes);
}

std::size_t RequestReader::takeHead(std::string_view bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    check(bytes[i]);
    head += bytes[i];
    if (bytes[i] == '\n' && !refused) {
      const bool isEmpty = head.size() - lineBegin == 2;
      ++lines;
      lineBegin = head.size();
      if (isEmpty && lines == 1)
        refuse(400, "a request begins with an empty line");
      else if (isEmpty)
        finishHead();
    }
    if (!refused)
      checkLimits();
    if (refused || hasHead())
      return i + 1;
  }
  return bytes.size();
}

/// Checks a byte of the head before it is added.
void RequestReader::check(char c) {
  const char last = head.empty() ? '\0' : head.back();
  const bool isControl = (c >= 0 && c < ' ' && c != '\t') || c == 127;
  const bool isFirst = head.size() == lineBegin;
  if ((last == '\r') != (c == '\n'))
    refuse(400, "lines of the head must end with CR and LF");
  else if (isControl && c != '\r' && c != '\n')
    refuse(400, "a control character is in the head; this server speaks "
                "plain HTTP/1.1");
  else if (isFirst && lines && (c == ' ' || c == '\t'))
    refuse(400, "headers that go on in another line are obsolete");
}

void RequestReader::checkLimits() {
  // Around the target: a method, a version and what separates them.
  constexpr std::size_t kAround = 32;
  if (!lines && head.size() > limits.targetBytes + kAround)
    refuse(414, "a target has at most " + std::to_string(limits.targetBytes) +
                    " bytes");
  else if (head.size() > limits.headBytes)
    refuse(431, "a request line and its headers have at most " +
                    std::to_string(limits.headBytes) + " bytes");
  else if (lines > limits.headers + 1 && !hasHead())
    refuse(431, "a request has at most " + std::to_string(limits.headers) +
                    " headers");
}

void RequestReader::finishHead() {
  boost::system::error_code error;
  parser->of.put(boost::asio::const_buffer(head.data(), head.size()), error);
  if (error == beast::error::need_more)
    error = {}; // the body
  if (error == beast::error::bad_version)
    return refuse(505, "this server speaks HTTP/1.1 and HTTP/1.0");
  if (error == beast::error::body_limit)
    return refuse(413, "a body has at most " +
                           std::to_string(limits.bodyBytes) + " bytes");
  if (error || !parser->of.is_header_done())
    return refuse(400, "the head of the request is wrong: " + error.message());
  const auto &message = parser->of.get();
  request.method = message.method_string();
  for (const auto &field : message)
    request.headers.emplace_back(field.name_string(), field.value());
  readTarget(message.target());
  knowsChunks = message.version() == 11;
  keepsAlive = message.keep_alive();
  if (!refused)
    checkFraming();
  if (!refused)
    checkBody();
  head = std::string();
  stage = Stage::Body;
  if (!refused && parser->of.is_done())
    finishBody();
}

void RequestReader::readTarget(std::string_view target) {
  const bool isStar = target == "*" && request.method == "OPTIONS";
  if (!isStar && target.front() != '/')
    return refuse(400, "the target of a request must begin with '/'");
  const std::size_t query = target.find('?');
  request.path = target.substr(0, query);
  if (query != target.npos)
    request.query = target.substr(query + 1);
}

/// Checks that the head says once where the body ends, in a way that no reader
/// takes for another (RFC 9112, section 6).
void RequestReader::checkFraming() {
  const std::size_t lengths = count("Content-Length"),
                    encodings = count("Transfer-Encoding");
  if (lengths + encodings > 1)
    return refuse(400, "there must be one of Content-Length and "
                       "Transfer-Encoding, once");
  const std::string length = request.header("Content-Length");
  const bool isNumber =
      !length.empty() && length.size() < 19 &&
      length.find_first_not_of("0123456789") == std::string::npos;
  if (lengths && !isNumber)
    return refuse(400, "Content-Length must be a number");
  if (encodings && !knowsChunks)
    return refuse(400, "HTTP/1.0 has no Transfer-Encoding");
  if (encodings && !isSameText(request.header("Transfer-Encoding"), "chunked"))
    return refuse(501, "the only Transfer-Encoding is 'chunked'");
  // A client that cannot say where its body ends would send the next request.
  if (encodings && !parser->of.chunked())
    return refuse(400, "Transfer-Encoding is wrong");
}

void RequestReader::checkBody() {
  const std::string encoding = request.header("Content-Encoding");
  if (count("Content-Encoding") > 1 ||
      (!encoding.empty() && !isSameText(encoding, "identity")))
    return refuse(415, "bodies with a Content-Encoding are not supported");
  const std::string expected = request.header("Expect");
  const bool isContinue = isSameText(expected, "100-continue");
  if (count("Expect") > 1 || (!expected.empty() && !isContinue))
    return refuse(417, "the only Expect is '100-continue'");
  wantsContinue = isContinue && knowsChunks && !parser->of.is_done();
}

std::size_t RequestReader::takeBody(std::string_view bytes) {
  if (bytes.empty())
    return 0;
  std::string_view rest = bytes;
  if (!pending.empty())
    rest = pending.append(bytes);
  boost::system::error_code error;
  while (!rest.empty() && !error && !parser->of.is_done())
    rest.remove_prefix(parser->of.put(
        boost::asio::const_buffer(rest.data(), rest.size()), error));
  if (error == beast::error::body_limit)
    refuse(413,
           "a body has at most " + std::to_string(limits.bodyBytes) + " bytes");
  else if (error && error != beast::error::need_more)
    refuse(400, "the body is wrong: " + error.message());
  const bool isDone = !refused && parser->of.is_done();
  // Bytes of the next request.
  const std::size_t left = isDone ? rest.size() : 0;
  bodyWire += bytes.size() - left;
  if (isDone)
    return finishBody(), bytes.size() - left;
  pending = std::string(rest);
  if (!refused && (pending.size() > limits.headBytes ||
                   bodyWire > kMostFrame * bodyBytes() + limits.headBytes))
    refuse(400, "chunks have too long extensions or trailers");
  return bytes.size();
}

void RequestReader::finishBody() {
  request.body = std::move(parser->of.get().body());
  pending = std::string();
  stage = Stage::Whole;
}
