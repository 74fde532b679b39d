#include "runtime/collectives/process/Socket.h"

#include "runtime/support/Status.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace tessera {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

// Between two attempts to reach a side that does not listen yet.
static constexpr std::chrono::milliseconds retryAfter{50};

int millisecondsUntil(Deadline deadline) {
  auto left =
      std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
  return static_cast<int>(std::clamp<int64_t>(left.count(), 0, 1 << 30));
}

void Socket::close() {
  if (descriptor >= 0)
    ::close(descriptor);
  descriptor = -1;
}

std::string Address::text() const {
  bool brackets = host.find(':') != std::string::npos;
  return concat(brackets ? "[" : "", host, brackets ? "]" : "", ":", port);
}

Address parseAddress(const std::string &text) {
  size_t colon = text.rfind(':');
  std::string host = text.substr(0, colon == std::string::npos ? 0 : colon);
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  std::string digits = colon == std::string::npos ? "" : text.substr(colon + 1);
  bool isNumber = !digits.empty() && digits.size() < 6 &&
                  digits.find_first_not_of("0123456789") == std::string::npos;
  int port = isNumber ? std::stoi(digits) : 0;
  if (host.empty() || port < 1 || port > 65535)
    fail(TSR_INVALID_ARGUMENT, "the rendezvous is '", text,
         "', expected HOST:PORT with a port of 1 to 65535");
  return {host, port};
}

/// Returns an address in numbers.
static std::string numericHost(const sockaddr *address, socklen_t bytes) {
  char host[NI_MAXHOST] = "";
  getnameinfo(address, bytes, host, sizeof host, nullptr, 0, NI_NUMERICHOST);
  return host;
}

/// Small messages go at once; nothing is inherited by children.
static Socket prepared(int descriptor, std::string peer = "") {
  Socket socket(descriptor, std::move(peer));
  if (!socket)
    return socket;
  int on = 1;
  fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return socket;
}

/// Returns the address in numbers, by getsockname or getpeername.
static std::string hostOf(const Socket &socket,
                          int (*nameOf)(int, sockaddr *, socklen_t *)) {
  sockaddr_storage address{};
  socklen_t bytes = sizeof address;
  auto *any = reinterpret_cast<sockaddr *>(&address);
  return nameOf(socket.get(), any, &bytes) == 0 ? numericHost(any, bytes) : "";
}

std::string ownHost(const Socket &socket) {
  return hostOf(socket, getsockname);
}

std::string peerHost(const Socket &socket) {
  const std::string &known = socket.peerAddress();
  return known.empty() ? hostOf(socket, getpeername) : known;
}

std::string peerName(const Socket &socket) {
  std::string host = peerHost(socket);
  if (host.empty())
    host = "an unknown address";
  const std::string &rank = socket.rankText();
  return rank.empty() ? host : concat(rank, " at ", host);
}

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

/// Returns the addresses of a host; null and why if it has none.
static Addresses resolve(const Address &address, std::string *why) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  int code = getaddrinfo(address.host.c_str(),
                         std::to_string(address.port).c_str(), &hints, &found);
  if (code != 0)
    *why = concat("the host name '", address.host, "' does not resolve (",
                  gai_strerror(code), ")");
  return Addresses(code == 0 ? found : nullptr, freeaddrinfo);
}

/// Returns a listening socket, or an invalid one with errno.
static Socket listenAt(const addrinfo &at) {
  Socket socket = prepared(::socket(at.ai_family, SOCK_STREAM, 0));
  if (!socket)
    return socket;
  int on = 1;
  setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (at.ai_family == AF_INET6) // the host's other addresses have their own
    setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  if (bind(socket.get(), at.ai_addr, at.ai_addrlen) != 0 ||
      listen(socket.get(), SOMAXCONN) != 0)
    return Socket();
  // A caller that has left before it was accepted must not block accept().
  fcntl(socket.get(), F_SETFL, fcntl(socket.get(), F_GETFL) | O_NONBLOCK);
  return socket;
}

static bool isOutOfFiles(int code) { return code == EMFILE || code == ENFILE; }

static const char *const moreFiles =
    "; raise the limit of open files (ulimit -n)";

/// Returns what helps against an error of a socket; 0: its host has no address.
static const char *remedyFor(int code) {
  if (isOutOfFiles(code))
    return moreFiles;
  switch (code) {
  case 0:
    return "; set MASTER_ADDR or --rendezvous to a name that every host "
           "resolves, or to an address";
  case EADDRNOTAVAIL:
    return "; rank 0 must run on the host that the rendezvous names";
  case EADDRINUSE:
    return "; choose another port for the rendezvous";
  case EACCES:
    return "; choose a port above 1023 for the rendezvous";
  case ECONNREFUSED:
    return "; no process listens there: it has not started or has ended, or "
           "the rendezvous is elsewhere";
  case ETIMEDOUT:
  case EHOSTUNREACH:
  case ENETUNREACH:
    return "; all ports of the hosts must be open to each other";
  default:
    return "";
  }
}

[[noreturn]] static void failToListen(const Address &address, int code,
                                      const std::string &why) {
  fail(TSR_IO, "cannot listen on ", address.text(), ": ", why, remedyFor(code));
}

static std::string numericHost(const addrinfo &at) {
  return numericHost(at.ai_addr, at.ai_addrlen);
}

std::vector<std::string> numericHosts(const Address &address) {
  std::string why;
  std::vector<std::string> hosts;
  Addresses found = resolve(address, &why);
  for (addrinfo *at = found.get(); at; at = at->ai_next)
    hosts.push_back(numericHost(*at));
  return hosts;
}

/// Returns whether an address is among the listeners': some resolvers name one
/// twice.
static bool isAmong(const std::vector<Socket> &listeners, const addrinfo &at) {
  return std::any_of(listeners.begin(), listeners.end(),
                     [host = numericHost(at)](const Socket &listener) {
                       return ownHost(listener) == host;
                     });
}

std::vector<Socket> listenOn(const Address &address) {
  std::string why;
  int code = 0;
  std::vector<Socket> listeners;
  Addresses found = resolve(address, &why);
  for (addrinfo *at = found.get(); at; at = at->ai_next) {
    if (isAmong(listeners, *at))
      continue;
    if (Socket socket = listenAt(*at)) {
      listeners.push_back(std::move(socket));
      continue;
    }
    code = errno;
    why = std::strerror(code);
    if (code == EADDRINUSE) // half a rendezvous would miss some
      failToListen(address, code, why);
  }
  if (listeners.empty())
    failToListen(address, code, why);
  return listeners;
}

int portOf(const Socket &listener) {
  sockaddr_storage address{};
  socklen_t bytes = sizeof address;
  getsockname(listener.get(), reinterpret_cast<sockaddr *>(&address), &bytes);
  return ntohs(address.ss_family == AF_INET6
                   ? reinterpret_cast<sockaddr_in6 *>(&address)->sin6_port
                   : reinterpret_cast<sockaddr_in *>(&address)->sin_port);
}

bool hasClosed(const Socket &socket) {
  char byte;
  ssize_t got = recv(socket.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
}

bool isSilent(const Socket &socket) {
  char byte;
  return recv(socket.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 &&
         (errno == EAGAIN || errno == EINTR);
}

bool isLoopback(const std::string &host) {
  return host.rfind("127.", 0) == 0 || host == "::1";
}

/// Waits until the socket is ready for `events`; false at the deadline.
static bool waitFor(const Socket &socket, short events, Deadline deadline) {
  pollfd entry{socket.get(), events, 0};
  while (true) {
    int ready = poll(&entry, 1, millisecondsUntil(deadline));
    if (ready > 0)
      return true;
    if (ready == 0 && Clock::now() >= deadline)
      return false;
    if (ready < 0 && errno != EINTR)
      fail(TSR_IO, "waiting for a process: ", std::strerror(errno));
  }
}

/// Attempts once to connect to one address; invalid with errno if that fails.
static Socket tryConnect(const addrinfo &to, Deadline deadline) {
  std::string host = numericHost(to);
  Socket socket =
      prepared(::socket(to.ai_family, SOCK_STREAM, 0), std::move(host));
  int flags = socket ? fcntl(socket.get(), F_GETFL) : 0, error = 0;
  if (socket)
    fcntl(socket.get(), F_SETFL, flags | O_NONBLOCK);
  if (!socket || (connect(socket.get(), to.ai_addr, to.ai_addrlen) != 0 &&
                  errno != EINPROGRESS)) {
    int code = errno;
    socket.close();
    errno = code;
    return Socket();
  }
  socklen_t bytes = sizeof error;
  if (!waitFor(socket, POLLOUT, std::min(deadline, Clock::now() + 5s)))
    error = ETIMEDOUT;
  else
    getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &bytes);
  if (error != 0) {
    socket.close();
    errno = error;
    return Socket();
  }
  fcntl(socket.get(), F_SETFL, flags);
  return socket;
}

Socket connectTo(const Address &address, const std::string &what,
                 Deadline deadline, Listening listening) {
  std::string why;
  int code = 0;
  do {
    Addresses found = resolve(address, &why);
    bool refused = false;
    code = 0;
    for (addrinfo *to = found.get(); to; to = to->ai_next) {
      if (Socket socket = tryConnect(*to, deadline)) {
        socket.setRank(what);
        return socket;
      }
      code = errno;
      why = std::strerror(code);
      refused |= code == ECONNREFUSED;
    }
    if (isOutOfFiles(code)) // waiting does not help
      fail(TSR_IO, "cannot reach ", what, " at ", address.text(), ": ", why,
           remedyFor(code));
    if (refused && listening == Listening::Already)
      fail(TSR_ABORTED, "the process of ", what, " at ", address.text(),
           " has ended before all were connected");
    std::this_thread::sleep_for(retryAfter);
  } while (Clock::now() < deadline);
  fail(TSR_TIMEOUT, "cannot reach ", what, " at ", address.text(), ": ", why,
       remedyFor(code));
}

/// The address is taken here: a connection that has been reset has none later.
Socket acceptNow(const Socket &listener) {
  sockaddr_storage address{};
  socklen_t bytes = sizeof address;
  auto *any = reinterpret_cast<sockaddr *>(&address);
  int descriptor = accept(listener.get(), any, &bytes);
  return prepared(descriptor, descriptor < 0 ? "" : numericHost(any, bytes));
}

Socket acceptFrom(const Socket &listener, Deadline deadline) {
  while (waitFor(listener, POLLIN, deadline)) {
    if (Socket socket = acceptNow(listener))
      return socket;
    if (errno == EMFILE || errno == ENFILE || errno == ENOMEM)
      fail(TSR_IO, "cannot take a connection: ", std::strerror(errno),
           moreFiles);
  }
  return Socket();
}

[[noreturn]] static void failLink(const Socket &socket, ssize_t result) {
  int code = errno;
  fail(TSR_IO, "the connection to ", peerName(socket), " broke: ",
       result == 0 ? "closed by the other side" : std::strerror(code));
}

void sendAll(const Socket &socket, const void *data, size_t bytes,
             Deadline deadline) {
  auto *from = static_cast<const char *>(data);
  while (bytes > 0) {
    if (!waitFor(socket, POLLOUT, deadline))
      fail(TSR_TIMEOUT, peerName(socket), " does not read");
    ssize_t sent = send(socket.get(), from, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && (errno == EAGAIN || errno == EINTR))
      continue;
    if (sent <= 0)
      failLink(socket, sent);
    from += sent;
    bytes -= static_cast<size_t>(sent);
  }
}

void receiveAll(const Socket &socket, void *data, size_t bytes,
                Deadline deadline) {
  auto *to = static_cast<char *>(data);
  while (bytes > 0) {
    if (!waitFor(socket, POLLIN, deadline))
      fail(TSR_TIMEOUT, peerName(socket), " does not answer");
    ssize_t got = recv(socket.get(), to, bytes, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
      continue;
    if (got <= 0)
      failLink(socket, got);
    to += got;
    bytes -= static_cast<size_t>(got);
  }
}

void sendText(const Socket &socket, const std::string &text,
              Deadline deadline) {
  auto bytes = static_cast<uint32_t>(text.size());
  sendAll(socket, &bytes, sizeof bytes, deadline);
  sendAll(socket, text.data(), text.size(), deadline);
}

std::string receiveText(const Socket &socket, size_t longest,
                        Deadline deadline) {
  uint32_t bytes = 0;
  receiveAll(socket, &bytes, sizeof bytes, deadline);
  if (bytes > longest)
    fail(TSR_IO, peerName(socket), " is no process of Tessera");
  std::string text;
  while (text.size() < bytes) { // memory for what has come, not for promises
    size_t begin = text.size();
    text.resize(std::min<size_t>(bytes, begin + (1 << 16)));
    receiveAll(socket, text.data() + begin, text.size() - begin, deadline);
  }
  return text;
}

} // namespace tessera
