#include "test/Fuzz/Runtime/Fuzzed.h"

#include <sys/socket.h>

namespace fuzzed {

Sent::Sent(std::string_view bytes) {
  int pair[2];
  require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0,
          "a connection can be made");
  own = tessera::Socket(pair[0]);
  other = tessera::Socket(pair[1]);
  send(other.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  shutdown(other.get(), SHUT_WR);
}

} // namespace fuzzed
