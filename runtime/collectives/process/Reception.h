//===- Reception.h - who connects to a process, and its words ---*- C++ -*-===//
// Serves all connections at once, so that one that is silent keeps nobody
// waiting. Each shows that it knows the secret and brings one message; one that
// takes too long, or says too much, is dropped without a word. If there are too
// many, the oldest of those that have shown least is dropped.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_COLLECTIVES_PROCESS_RECEPTION_H
#define TESSERA_RUNTIME_COLLECTIVES_PROCESS_RECEPTION_H

#include "runtime/collectives/process/Handshake.h"
#include "runtime/collectives/process/Refusals.h"

#include <list>
#include <vector>

namespace tessera {

/// A connection and the message that it began with.
struct Visitor {
  Socket socket; ///< invalid: nobody has come
  std::string message;
};

struct ReceptionLimits {
  size_t messageBytes; ///< most bytes of a single message
  size_t connections;  ///< connections that have not brought their message yet
  size_t allBytes;     ///< sum over the messages that are not whole yet
  /// A connection that brings no message in this time is dropped.
  std::chrono::milliseconds silence{5000};
};

class Reception {
public:
  Reception(std::vector<Socket> listeners, Secret secret,
            ReceptionLimits limits, OperatorNote note = {})
      : listeners(std::move(listeners)), secret(std::move(secret)),
        limits(limits), refusals(std::move(note)) {}

  /// Returns the next visitor that has brought a message, or an invalid one at
  /// the deadline, however many come meanwhile.
  Visitor next(Deadline deadline);
  /// Records why a connection is dropped.
  void refuse(Refusal kind, const Socket &socket, const std::string &why);
  /// Returns the text of Refusals::describe.
  std::string describeRefused() const { return refusals.describe(); }

private:
  /// The part that a connection is to send next.
  enum class Stage { Opening, Proof, Length, Message };
  struct Pending {
    Socket socket;
    Deadline until;
    Stage stage = Stage::Opening;
    size_t wanted = sizeof(Opening); ///< bytes in this stage
    std::string bytes;               ///< the bytes that have come
    Opening own{}, theirs{};
    bool hasProven = false, isComplete = false, isDropped = false;

    /// Returns whether it may be dropped: it has shown nothing yet.
    bool mayGo() const { return !hasProven && !isComplete && !isDropped; }
  };
  void take(const Socket &listener);
  bool takeOne(const Socket &listener);
  void serve(Pending &pending);
  void pull(Pending &pending);
  void advance(Pending &pending);
  void answerOpening(Pending &pending);
  void answerProof(Pending &pending);
  void takeLength(Pending &pending);
  void drop(Pending &pending, Refusal kind, const std::string &why);
  bool dropForRoom(const std::string &why);
  void dropForMemory();
  void forgetDropped();
  void wait(Deadline deadline);
  void dropLate();
  Visitor popComplete();

  std::vector<Socket> listeners;
  Secret secret;
  ReceptionLimits limits;
  std::list<Pending> pending; ///< the oldest first
  Refusals refusals;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_COLLECTIVES_PROCESS_RECEPTION_H
