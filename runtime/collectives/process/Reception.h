//===- Reception.h - who connects to a process, and its words ---*- C++ -*-===//
// Serves all connections at once, so that one that is silent keeps nobody
// waiting. Each shows that it knows the secret and brings one message; who
// takes too long, or says too much, is refused, and the first of too many.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_COLLECTIVES_PROCESS_RECEPTION_H
#define TESSERA_RUNTIME_COLLECTIVES_PROCESS_RECEPTION_H

#include "runtime/collectives/process/Handshake.h"

#include <list>
#include <vector>

namespace tessera {

/// A connection and the message that it began with.
struct Visitor {
  Socket socket; ///< invalid: nobody has come
  std::string message;
};

struct ReceptionLimits {
  size_t messageBytes; ///< of one message
  size_t connections;  ///< that have not brought their message yet
};

class Reception {
public:
  Reception(std::vector<Socket> listeners, Secret secret,
            ReceptionLimits limits)
      : listeners(std::move(listeners)), secret(std::move(secret)),
        limits(limits) {}

  /// The next who has brought a message; nobody at the deadline.
  Visitor next(Deadline deadline);
  /// Records why a connection is dropped.
  void refuse(const Socket &socket, const std::string &why);
  /// "" or "; 3 connections were refused, the last from 10.0.0.7: why".
  std::string describeRefused() const;

private:
  /// What a connection is to send next.
  enum class Stage { Opening, Proof, Length, Message };
  struct Pending {
    Socket socket;
    Deadline until;
    Stage stage = Stage::Opening;
    size_t wanted = sizeof(Opening); ///< bytes in this stage
    std::string bytes;               ///< that have come of them
    Opening own{}, theirs{};
    bool isComplete = false, isDropped = false;
  };
  void take(const Socket &listener);
  void serve(Pending &pending);
  void pull(Pending &pending);
  void advance(Pending &pending);
  void answerOpening(Pending &pending);
  void answerProof(Pending &pending);
  void takeLength(Pending &pending);
  void drop(Pending &pending, const std::string &why);
  bool wait(Deadline deadline);
  void dropLate();
  Visitor popComplete();

  std::vector<Socket> listeners;
  Secret secret;
  ReceptionLimits limits;
  std::list<Pending> pending; ///< the oldest first
  int64_t refused = 0;
  std::string lastRefusal;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_COLLECTIVES_PROCESS_RECEPTION_H
