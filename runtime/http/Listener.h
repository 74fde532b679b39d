//===- Listener.h - a socket that listens -----------------------*- C++ -*-===//

#ifndef TESSERA_RUNTIME_HTTP_LISTENER_H
#define TESSERA_RUNTIME_HTTP_LISTENER_H

#include <cstddef>
#include <string>

namespace tessera::http {

struct ListenerSocket {
  int socket = -1, port = 0;
  bool isIPv6 = false;
};

/// Listens on an address or a name. No child process inherits the socket, and
/// two servers cannot have one port. Throws std::system_error.
ListenerSocket openListener(const std::string &address, int port);

/// Accepts a client, whose socket does not block. Returns -1 with errno.
int acceptClient(int listener);

/// Raises the limit of file descriptors for so many connections. Returns how
/// many it leaves room for.
std::size_t allowConnections(std::size_t wanted);

} // namespace tessera::http

#endif // TESSERA_RUNTIME_HTTP_LISTENER_H
