//===- RendezvousHub.h - rank 0's side of the rendezvous --------*- C++ -*-===//
#ifndef TESSERA_RUNTIME_COLLECTIVES_PROCESS_RENDEZVOUSHUB_H
#define TESSERA_RUNTIME_COLLECTIVES_PROCESS_RENDEZVOUSHUB_H

#include "runtime/collectives/process/ProcessRendezvous.h"

#include <nlohmann/json.hpp>

namespace tessera {

/// What a process says first, as JSON: "version", "rank", "world", "port",
/// "machine", "agreement". The answer: "error", or "cookie" and "processes".
nlohmann::json helloOf(const ProcessOptions &options,
                       const Agreement &agreement, int dataPort);

/// Collects everyone's hello and answers all with the table, or all with the
/// error. Strangers on the port are ignored.
class RendezvousHub {
public:
  RendezvousHub(const ProcessOptions &options, nlohmann::json ownHello);

  /// The table. Throws what it told the others.
  nlohmann::json run(Deadline deadline);

private:
  struct Guest {
    Socket socket;
    nlohmann::json hello; ///< null: has not come
  };
  void welcome(Socket socket, Deadline deadline);
  std::string objection(const nlohmann::json &hello) const;
  std::string describeAbsent() const;
  nlohmann::json table() const;
  void answerAll(const nlohmann::json &answer, Deadline deadline);

  const ProcessOptions &options;
  Socket listener;
  std::vector<Guest> guests; ///< by rank
  int64_t missing;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_COLLECTIVES_PROCESS_RENDEZVOUSHUB_H
