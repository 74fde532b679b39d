//===- Socket.h - TCP between the processes of a session --------*- C++ -*-===//
// Closed when destroyed; every wait has a deadline. Failures are Errors with
// TSR_IO, or TSR_TIMEOUT, that name the other side.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_COLLECTIVES_PROCESS_SOCKET_H
#define TESSERA_RUNTIME_COLLECTIVES_PROCESS_SOCKET_H

#include <chrono>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace tessera {

using Deadline = std::chrono::steady_clock::time_point;
/// Returns the time left, for poll(2); at least 0.
int millisecondsUntil(Deadline deadline);

class Socket {
public:
  Socket() = default;
  /// `peer` is the address of the other side, in numbers. It is kept because
  /// the system forgets it when a connection breaks.
  explicit Socket(int descriptor, std::string peer = "")
      : descriptor(descriptor), peer(std::move(peer)) {}
  Socket(Socket &&other) noexcept
      : descriptor(std::exchange(other.descriptor, -1)),
        peer(std::move(other.peer)), rank(std::move(other.rank)) {}
  Socket &operator=(Socket &&other) noexcept {
    std::swap(descriptor, other.descriptor);
    peer.swap(other.peer);
    rank.swap(other.rank);
    return *this;
  }
  ~Socket() { close(); }

  int get() const { return descriptor; }
  explicit operator bool() const { return descriptor >= 0; }
  void close();
  const std::string &peerAddress() const { return peer; }
  /// Says which process is on the other side, such as "rank 3".
  void setRank(std::string text) { rank = std::move(text); }
  const std::string &rankText() const { return rank; }

private:
  int descriptor = -1;
  std::string peer, rank;
};

struct Address {
  std::string host;
  int port = 0;

  std::string text() const;
};
/// Parses "node0:29501" or "[::1]:29501". TSR_INVALID_ARGUMENT.
Address parseAddress(const std::string &text);

/// Listens on every address of the host that this machine has, and on no
/// other; port 0 takes any that is free.
std::vector<Socket> listenOn(const Address &address);
int portOf(const Socket &listener);
/// Returns the address of this side and of the other one, in numbers.
std::string ownHost(const Socket &socket);
std::string peerHost(const Socket &socket);
/// Returns what errors call the other side; never empty.
std::string peerName(const Socket &socket);
bool isLoopback(const std::string &host);
/// Returns the addresses of a host, in numbers; none if it is not known.
std::vector<std::string> numericHosts(const Address &address);
/// The other side has closed, or its process has ended, and it has left no
/// byte to read.
bool hasClosed(const Socket &socket);

/// The other side has neither closed nor sent a byte that is not read yet.
bool isSilent(const Socket &socket);

/// Soon: the other side may not listen yet.
enum class Listening { Soon, Already };
/// Tries until the deadline; one that listens already must not refuse. `what`
/// names it in the error.
Socket connectTo(const Address &address, const std::string &what,
                 Deadline deadline, Listening listening = Listening::Soon);
/// Takes who waits at a listener; invalid with errno if nobody does.
Socket acceptNow(const Socket &listener);
/// Accepts a connection; invalid after the deadline.
Socket acceptFrom(const Socket &listener, Deadline deadline);

/// Throw at the deadline, and if the other side closes.
void sendAll(const Socket &socket, const void *data, size_t bytes,
             Deadline deadline);
void receiveAll(const Socket &socket, void *data, size_t bytes,
                Deadline deadline);
/// Send and receive a text with its length; a longer one than `longest` is
/// refused.
void sendText(const Socket &socket, const std::string &text, Deadline deadline);
std::string receiveText(const Socket &socket, size_t longest,
                        Deadline deadline);

} // namespace tessera

#endif // TESSERA_RUNTIME_COLLECTIVES_PROCESS_SOCKET_H
