//===- RawClient.h - a client that sends what it is told --------*- C++ -*-===//

#ifndef TESSERA_TEST_RUNTIME_HTTP_RAWCLIENT_H
#define TESSERA_TEST_RUNTIME_HTTP_RAWCLIENT_H

#include <map>
#include <string>
#include <string_view>

struct RawAnswer {
  int status = 0; ///< 0: the connection was closed before an answer.
  std::map<std::string, std::string> headers; ///< Names in small letters.
  std::string body;
  bool isWhole = false;
};

class RawClient {
public:
  explicit RawClient(int port);
  ~RawClient();
  RawClient(const RawClient &) = delete;
  RawClient &operator=(const RawClient &) = delete;

  /// Returns false if the server has closed the connection.
  bool send(std::string_view bytes);
  /// Sends without waiting; returns the bytes that were taken, or -1.
  long trySend(std::string_view bytes);
  void endSending();
  /// Reads an answer, without its body if it is one of HEAD.
  RawAnswer answer(bool isHead = false);
  /// Reads so many bytes, or until the end.
  std::string read(std::size_t bytes);
  /// Waits until the server has closed the connection. False: it does not.
  bool isClosed();
  /// Lets the system take little that is not read.
  void receiveLittle();

  int socket = -1;

private:
  bool readUntil(std::string_view mark);
  bool readSome();
  std::string take(std::size_t bytes);

  std::string got;
};

/// Returns a request of a page, or one with a body.
std::string getRequest(std::string_view path, std::string_view headers = "");
std::string postRequest(std::string_view path, std::string_view body,
                        std::string_view headers = "");
/// Asks once over a new connection.
RawAnswer ask(int port, std::string_view bytes);

#endif // TESSERA_TEST_RUNTIME_HTTP_RAWCLIENT_H
