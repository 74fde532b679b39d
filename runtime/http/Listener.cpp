//===- Listener.cpp - a socket that listens -------------------------------===//

#include "runtime/http/Listener.h"
#include <algorithm>
#include <cerrno>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdexcept>
#include <sys/resource.h>
#include <sys/socket.h>
#include <system_error>
#include <unistd.h>

using namespace tessera::http;

/// Descriptors that the rest of the program may need.
static constexpr rlim_t kOtherDescriptors = 128;

/// The system holds this much for a client in each direction, besides the
/// memory of this process. Its default is several MiB.
static constexpr int kSystemBytes = 64 << 10;

/// Returns an error number.
static int listenAt(const addrinfo &place, ListenerSocket &result) {
  const int type = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;
  const int made = socket(place.ai_family, type, 0), yes = 1;
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  if (made < 0 ||
      setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) ||
      // Sockets of clients inherit the sizes of these buffers.
      setsockopt(made, SOL_SOCKET, SO_SNDBUF, &kSystemBytes,
                 sizeof kSystemBytes) ||
      setsockopt(made, SOL_SOCKET, SO_RCVBUF, &kSystemBytes,
                 sizeof kSystemBytes) ||
      bind(made, place.ai_addr, place.ai_addrlen) || listen(made, SOMAXCONN) ||
      getsockname(made, reinterpret_cast<sockaddr *>(&bound), &size)) {
    const int error = errno;
    if (made >= 0)
      close(made);
    return error;
  }
  result.socket = made;
  result.isIPv6 = bound.ss_family == AF_INET6;
  result.port =
      ntohs(result.isIPv6 ? reinterpret_cast<sockaddr_in6 &>(bound).sin6_port
                          : reinterpret_cast<sockaddr_in &>(bound).sin_port);
  return 0;
}

ListenerSocket http::openListener(const std::string &address, int port) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  const std::string service = std::to_string(port);
  const int failure =
      getaddrinfo(address.c_str(), service.c_str(), &hints, &found);
  if (failure)
    throw std::system_error(EADDRNOTAVAIL, std::generic_category(),
                            gai_strerror(failure));
  std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> list(found, freeaddrinfo);
  ListenerSocket result;
  int error = EADDRNOTAVAIL;
  for (addrinfo *each = found; each && result.socket < 0; each = each->ai_next)
    error = listenAt(*each, result);
  if (result.socket < 0)
    throw std::system_error(error, std::generic_category());
  return result;
}

int http::acceptClient(int listener) {
  const int client =
      accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (client < 0)
    return -1;
  // A client that is gone without a word is noticed after a minute.
  const int yes = 1, idle = 30, between = 10, probes = 3;
  setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  setsockopt(client, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
  setsockopt(client, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
  setsockopt(client, IPPROTO_TCP, TCP_KEEPINTVL, &between, sizeof between);
  setsockopt(client, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
  return client;
}

std::size_t http::allowConnections(std::size_t wanted) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit))
    return wanted;
  const rlim_t needed = wanted + kOtherDescriptors;
  if (limit.rlim_cur < needed && limit.rlim_cur < limit.rlim_max) {
    rlimit raised = limit;
    raised.rlim_cur = std::min(needed, limit.rlim_max);
    if (!setrlimit(RLIMIT_NOFILE, &raised))
      limit = raised;
  }
  if (limit.rlim_cur >= needed)
    return wanted;
  // The limit where there are few descriptors.
  const rlim_t half = limit.rlim_cur / 2;
  return limit.rlim_cur > 2 * kOtherDescriptors
             ? limit.rlim_cur - kOtherDescriptors
             : std::max<rlim_t>(half, 1);
}
