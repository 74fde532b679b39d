//===- ReceptionTarget.cpp - strangers at the rendezvous ------------------===//
// A byte of flags; then, to those who listen, pieces that some of four
// connections send, or to one who calls, all that it is answered. Whatever the
// four send, a process of the run is received, and rank 0 meets rank 1.
#include "runtime/collectives/process/RendezvousHub.h"
#include "test/Fuzz/Runtime/Fuzzed.h"

#include <cerrno>
#include <cstring>
#include <optional>
#include <random>
#include <sys/socket.h>
#include <sys/un.h>

using namespace tessera;
using namespace fuzzed;
using Clock = std::chrono::steady_clock;

static Secret secretOf(bool has) {
  return has && TESSERA_HAS_LIBCRYPTO ? Secret(std::string(32, 's')) : Secret();
}

static constexpr ReceptionLimits narrow = {256, 3, 600};

/// A listener inside of this machine, and who calls it.
class Callers {
public:
  Callers() : listener(socketOf(SOCK_NONBLOCK)) {
    address.sun_family = AF_UNIX; // alone: the system names it
    bind(listener.get(), any(), sizeof address.sun_family);
    bytes = sizeof address;
    getsockname(listener.get(), any(), &bytes);
    require(listen(listener.get(), 8) == 0, "a socket listens");
  }

  std::vector<Socket> takeListener() {
    std::vector<Socket> listeners;
    listeners.push_back(std::move(listener));
    return listeners;
  }
  Socket call() {
    Socket caller = socketOf(0);
    require(connect(caller.get(), any(), bytes) == 0, "a socket connects");
    return caller;
  }
  void say(size_t number, std::string_view words) {
    Socket &caller = callers[number % 4];
    if (!caller)
      caller = call();
    if (words.empty())
      return caller.close();
    send(caller.get(), words.data(), words.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  }

private:
  static Socket socketOf(int flags) {
    return Socket(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0));
  }
  sockaddr *any() { return reinterpret_cast<sockaddr *>(&address); }

  sockaddr_un address{};
  socklen_t bytes = 0;
  Socket listener, callers[4];
};

/// A process of the run, which goes on as it is answered, and calls again if it
/// is dropped before that.
class Friend {
public:
  static constexpr const char *message = "a friend";

  Friend(Callers &callers, const Secret &secret)
      : callers(callers), secret(secret) {
    begin();
  }

  void goOn() {
    Digest answer;
    if (stage == Stage::Opening && hasHeard(&theirs, sizeof theirs)) {
      if (secret) {
        Digest proof = proofOf(secret, Side::Caller, own, theirs);
        send(socket.get(), proof.data(), proof.size(), MSG_NOSIGNAL);
      }
      stage = Stage::Proof;
    }
    if (stage == Stage::Proof &&
        (!secret || hasHeard(answer.data(), answer.size()))) {
      auto length = static_cast<uint32_t>(std::strlen(message));
      send(socket.get(), &length, sizeof length, MSG_NOSIGNAL);
      send(socket.get(), message, length, MSG_NOSIGNAL);
      stage = Stage::Done;
    }
  }

private:
  enum class Stage { Opening, Proof, Done };
  void begin() {
    stage = Stage::Opening;
    socket = callers.call();
    own = openingFor(secret);
    send(socket.get(), &own, sizeof own, MSG_NOSIGNAL);
  }
  bool hasHeard(void *to, size_t bytes) {
    ssize_t got = recv(socket.get(), to, bytes, MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN))
      begin();
    return got == static_cast<ssize_t>(bytes);
  }

  Callers &callers;
  const Secret &secret;
  Socket socket;
  Opening own{}, theirs{};
  Stage stage = Stage::Opening;
};

/// Returns whether the friend is among those who have brought a message.
static bool receiveAllOf(Reception &reception, bool hasSecret) {
  bool isReceived = false;
  while (true) {
    Visitor visitor = reception.next(Clock::now());
    if (!visitor.socket)
      return isReceived;
    bool isFriend = visitor.message == Friend::message;
    require(isFriend || !hasSecret, "only who knows the secret is received");
    require(visitor.message.size() <= narrow.messageBytes,
            "messages have a limit");
    isReceived |= isFriend;
    accepts([&] { readHello(visitor.message); });
  }
}

/// Calls as strangers and as a friend, who may be taken for one of them if
/// there is no secret.
static void receive(Input input, bool hasSecret) {
  Callers callers;
  Secret secret = secretOf(hasSecret);
  Reception reception(callers.takeListener(), secret, narrow);
  std::optional<Friend> one;
  if (secret)
    one.emplace(callers, secret);
  bool isReceived = false;
  while (!input.empty()) {
    size_t number = input.byte();
    callers.say(number, input.bytes(input.byte()));
    isReceived |= receiveAllOf(reception, bool(secret));
    if (one)
      one->goOn();
  }
  if (!one)
    one.emplace(callers, secret);
  for (int turn = 0; turn < 8 && !isReceived; ++turn) {
    isReceived = receiveAllOf(reception, bool(secret));
    one->goOn();
  }
  reception.describeRefused();
  require(isReceived, "a process of the run is received");
}

/// Rank 1 comes at the end, with settings that no stranger can guess.
static void meet(Input input) {
  Callers callers;
  ProcessOptions options;
  options.worldSize = 2;
  std::string notes;
  options.note = [&](const std::string &note) { notes = note; };
  std::string number = std::to_string(std::random_device()());
  auto helloOf = [&](int64_t rank) {
    return Hello{TESSERA_VERSION, rank, 2, 4000, "m", {{"seed", number}}};
  };
  Reception reception(callers.takeListener(), Secret(),
                      {longestHello, 16, longestHello}, options.note);
  RendezvousHub hub(options, reception, helloOf(0));
  for (size_t turn = 0; turn < 4 && !input.empty(); ++turn) {
    Opening opening = openingFor(Secret());
    std::string_view words = input.bytes(input.byte());
    std::string whole(reinterpret_cast<const char *>(&opening), sizeof opening);
    auto length = static_cast<uint32_t>(words.size());
    whole.append(reinterpret_cast<const char *>(&length), sizeof length);
    callers.say(turn, whole.append(words));
  }
  Socket guest = callers.call();
  Opening opening = openingFor(Secret());
  sendAll(guest, &opening, sizeof opening, Clock::now());
  sendText(guest, writeHello(helloOf(1)), Clock::now());
  Deadline deadline = Clock::now() + std::chrono::seconds(20);
  hub.gather(deadline);
  require(hub.answer(deadline).processes[1].port == 4000, "rank 1 is met");
  receiveAll(guest, &opening, sizeof opening, deadline);
  require(readTable(receiveText(guest, longestTable, deadline), 2)
                  .processes.size() == 2,
          "rank 1 has the table");
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
  else if (flags & 4)
    meet(input);
  else
    receive(input, hasSecret);
  return 0;
}
