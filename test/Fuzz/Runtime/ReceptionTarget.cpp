//===- ReceptionTarget.cpp - strangers at the rendezvous ------------------===//
// A byte of flags; then, to those who listen, pieces that some of four
// connections send, or to one who calls, all that it is answered.
#include "runtime/collectives/process/Hello.h"
#include "runtime/collectives/process/Reception.h"
#include "test/Fuzz/Runtime/Fuzzed.h"

#include <sys/socket.h>
#include <sys/un.h>

using namespace tessera;
using namespace fuzzed;
using Clock = std::chrono::steady_clock;

static Secret secretOf(bool has) {
  return has && TESSERA_HAS_LIBCRYPTO ? Secret(std::string(32, 's')) : Secret();
}

/// A listener inside of this machine, and who calls it.
class Callers {
public:
  Callers() : listener(socketOf()) {
    address.sun_family = AF_UNIX; // alone: the system names it
    bind(listener.get(), any(), sizeof address.sun_family);
    bytes = sizeof address;
    getsockname(listener.get(), any(), &bytes);
    require(listen(listener.get(), 8) == 0, "a socket listens");
  }

  Socket takeListener() { return std::move(listener); }
  void say(size_t number, std::string_view words) {
    Socket &caller = callers[number % 4];
    if (!caller) {
      caller = socketOf();
      require(connect(caller.get(), any(), bytes) == 0, "a socket connects");
    }
    if (words.empty())
      return caller.close();
    send(caller.get(), words.data(), words.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  }

private:
  static Socket socketOf() {
    return Socket(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  }
  sockaddr *any() { return reinterpret_cast<sockaddr *>(&address); }

  sockaddr_un address{};
  socklen_t bytes = 0;
  Socket listener, callers[4];
};

static void receive(Input input, bool hasSecret) {
  constexpr size_t longest = 256;
  Callers callers;
  std::vector<Socket> listeners;
  listeners.push_back(callers.takeListener());
  Reception reception(std::move(listeners), secretOf(hasSecret), {longest, 3});
  while (!input.empty()) {
    size_t number = input.byte();
    callers.say(number, input.bytes(input.byte()));
    while (true) {
      Visitor visitor = reception.next(Clock::now());
      if (!visitor.socket)
        break;
      require(visitor.message.size() <= longest, "messages have a limit");
      accepts([&] { readHello(visitor.message); });
    }
  }
  reception.describeRefused();
}

static void call(std::string_view answer, bool hasSecret) {
  Sent sent(answer);
  Deadline deadline = Clock::now() + std::chrono::seconds(10);
  accepts([&] {
    introduce(sent.socket(), secretOf(hasSecret), "rank 0", deadline);
    readTable(receiveText(sent.socket(), longestTable, deadline), 2);
  });
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Input input(data, size);
  uint8_t flags = input.byte();
  bool hasSecret = flags & 2;
  if (flags & 1)
    call(input.rest(), hasSecret);
  else
    accepts([&] { receive(input, hasSecret); });
  return 0;
}
