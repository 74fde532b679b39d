//===- RawClient.cpp - a client that sends what it is told ----------------===//

#include "test/Runtime/http/RawClient.h"
#include <arpa/inet.h>
#include <cctype>
#include <cerrno>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

RawClient::RawClient(int port) {
  socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  timeval patience{600, 0}; // a hang; a busy machine takes its time
  setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_port = htons(static_cast<uint16_t>(port));
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(socket, reinterpret_cast<sockaddr *>(&place), sizeof place)) {
    close(socket);
    socket = -1;
  }
}

RawClient::~RawClient() {
  if (socket >= 0)
    close(socket);
}

bool RawClient::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent =
        ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0)
      return false;
    bytes.remove_prefix(sent);
  }
  return true;
}

long RawClient::trySend(std::string_view bytes) {
  return ::send(socket, bytes.data(), bytes.size(),
                MSG_NOSIGNAL | MSG_DONTWAIT);
}

void RawClient::endSending() { shutdown(socket, SHUT_WR); }

void RawClient::receiveLittle() {
  const int bytes = 4096;
  setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
}

bool RawClient::readSome() {
  char bytes[1 << 14];
  const ssize_t count = recv(socket, bytes, sizeof bytes, 0);
  if (count > 0)
    got.append(bytes, count);
  return count > 0;
}

bool RawClient::readUntil(std::string_view mark) {
  while (got.find(mark) == std::string::npos)
    if (!readSome())
      return false;
  return true;
}

std::string RawClient::take(std::size_t bytes) {
  std::string taken = got.substr(0, bytes);
  got.erase(0, bytes);
  return taken;
}

std::string RawClient::read(std::size_t bytes) {
  while (got.size() < bytes && readSome())
    ;
  return take(bytes);
}

bool RawClient::isClosed() {
  errno = 0;
  while (readSome())
    ;
  return errno != EAGAIN;
}

RawAnswer RawClient::answer(bool isHead) {
  RawAnswer result;
  if (!readUntil("\r\n\r\n"))
    return result;
  std::string head = take(got.find("\r\n\r\n") + 2);
  take(2);
  result.status = std::stoi(head.substr(head.find(' ')));
  for (std::size_t at = head.find("\r\n") + 2; at < head.size();) {
    const std::size_t colon = head.find(": ", at), end = head.find("\r\n", at);
    std::string name = head.substr(at, colon - at);
    for (char &c : name)
      c = static_cast<char>(std::tolower(c));
    result.headers[name] = head.substr(colon + 2, end - colon - 2);
    at = end + 2;
  }
  if (result.headers.count("content-length")) {
    const std::size_t size = std::stoul(result.headers["content-length"]);
    result.body = isHead ? "" : read(size);
    result.isWhole = isHead || result.body.size() == size;
  } else if (result.headers.count("transfer-encoding") && !isHead) {
    std::size_t size = 1;
    while (size && readUntil("\r\n")) {
      size = std::stoul(take(got.find("\r\n")), nullptr, 16);
      take(2);
      result.body += read(size);
      result.isWhole = read(2) == "\r\n" && !size;
    }
  } else {
    while (!isHead && result.status != 204 && readSome())
      ;
    result.body = isHead || result.status == 204 ? "" : take(got.size());
    result.isWhole = true;
  }
  return result;
}

static std::string requestOf(std::string_view method, std::string_view path,
                             std::string_view headers) {
  std::string text(method);
  text.append(" ").append(path).append(" HTTP/1.1\r\nHost: 127.0.0.1\r\n");
  return text.append(headers);
}

std::string getRequest(std::string_view path, std::string_view headers) {
  return requestOf("GET", path, headers) + "\r\n";
}

std::string postRequest(std::string_view path, std::string_view body,
                        std::string_view headers) {
  std::string text = requestOf("POST", path, headers) +
                     "Content-Length: " + std::to_string(body.size()) +
                     "\r\n\r\n";
  return text.append(body);
}

RawAnswer ask(int port, std::string_view bytes) {
  RawClient client(port);
  client.send(bytes);
  return client.answer();
}
