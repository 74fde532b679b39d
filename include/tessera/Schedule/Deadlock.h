//===- Deadlock.h - can programs that wait for each other end? --*- C++ -*-===//
// Ranks run lists of events. A send ends when its receive takes it, and a
// collective when all members of its group have come to it: nothing is
// buffered. Programs that end this way end on every communicator.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_SCHEDULE_DEADLOCK_H
#define TESSERA_SCHEDULE_DEADLOCK_H

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::pipeline {

struct Event {
  enum Kind { Send, Receive, Collective } kind = Collective;
  int64_t peer = 0;           ///< The other rank of a send or receive.
  std::vector<int64_t> group; ///< The members of a collective, ascending.
  /// The properties on which both sides must agree: kind of collective, bytes.
  std::string what;
  std::string name;        ///< For people: "send of h.1.mlp".
  int64_t microBatch = -1; ///< Both sides must agree on it, too; -1: of none.
};

/// Returns "" if all programs end; else who waits for whom, and where.
std::string findDeadlock(const std::vector<std::vector<Event>> &programs);

} // namespace tessera::pipeline

#endif // TESSERA_SCHEDULE_DEADLOCK_H
