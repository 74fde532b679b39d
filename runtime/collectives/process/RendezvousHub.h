//===- RendezvousHub.h - where processes meet -------------------*- C++ -*-===//
// Rank 0 collects everyone's hello and answers all with the table, or all with
// the error. A hello that is wrong keeps nobody from meeting: it is dropped,
// and the rank that it should be is waited for.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_COLLECTIVES_PROCESS_RENDEZVOUSHUB_H
#define TESSERA_RUNTIME_COLLECTIVES_PROCESS_RENDEZVOUSHUB_H

#include "runtime/collectives/process/ProcessRendezvous.h"
#include "runtime/collectives/process/Reception.h"

#include <optional>

namespace tessera {

// A process that waits for others looks this often whether one has ended.
constexpr std::chrono::milliseconds lookEvery{100};

/// Says on a connection to the hub that all are connected, so that its closing
/// is not taken for the end of a process.
void sayFarewell(const Socket &socket);

class RendezvousHub {
public:
  RendezvousHub(const ProcessOptions &options, Reception &reception, Hello own);

  /// Waits until all have come. Throws what it told the others.
  void gather(Deadline deadline);
  /// Tells everyone the table, which it returns.
  Table answer(Deadline deadline);
  /// Throws TSR_ABORTED if a process that came has ended before `release`.
  void checkGuests() const;
  /// Tells everyone that this process is connected to all.
  void release() const;

private:
  struct Guest {
    Socket socket;
    Hello hello;
    bool hasCome = false;
    /// It has come, but its settings differ from rank 0's: one whose settings
    /// do not may take its place.
    std::string difference;
  };
  struct Objection {
    Refusal kind;
    std::string why;
  };
  void await(Deadline deadline);
  void welcome(Visitor visitor);
  std::optional<Objection> objection(const std::string &message, Hello *hello,
                                     std::string *difference) const;
  void seat(Guest guest);
  void unseatLost();
  void refuse(const Socket &socket, const Objection &why);
  bool hasAll() const;
  void checkSettings() const;
  [[noreturn]] void failAbsent() const;
  [[noreturn]] static void failEnded(const Guest &guest);
  static void send(const Guest &guest, const std::string &text,
                   Deadline deadline);
  /// Returns whether guests have proven that they are processes of this run,
  /// and may learn about it.
  bool knowsGuests() const { return !options.secret.empty(); }
  Table table() const;
  SharedProcessor processor() const;

  const ProcessOptions &options;
  Reception &reception;
  std::vector<Guest> guests; ///< one per rank
};

} // namespace tessera

#endif // TESSERA_RUNTIME_COLLECTIVES_PROCESS_RENDEZVOUSHUB_H
