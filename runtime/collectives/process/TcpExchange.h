//===- TcpExchange.h - one call's traffic between processes -----*- C++ -*-===//
// Every member of the call sends each other a frame that says what it calls,
// then that peer's bytes, while it receives the same.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_COLLECTIVES_PROCESS_TCPEXCHANGE_H
#define TESSERA_RUNTIME_COLLECTIVES_PROCESS_TCPEXCHANGE_H

#include "runtime/collectives/process/ProcessWorld.h"

namespace tessera {

/// The bytes that go to a peer and that come from it.
struct Transfer {
  int64_t peer;
  const void *out = nullptr;
  int64_t outBytes = 0;
  void *in = nullptr;
  int64_t inBytes = 0;
};

/// The call that all members make, for checks and diagnoses.
struct TcpCall {
  Offer offer;
  std::string where; ///< "over axis 'tp'"
  Lane lane;
  /// Why the peer's call does not go with ours; empty if it does.
  std::string (*objection)(const ProcessWorld &world, const TcpCall &own,
                           const Offer &theirs, int64_t peer);
};

/// Returns when all is sent and received. Aborts the world on a disagreement,
/// a time-out, or a peer that is gone.
Status exchange(ProcessWorld &world, const TcpCall &call,
                const std::vector<Transfer> &transfers);

} // namespace tessera

#endif // TESSERA_RUNTIME_COLLECTIVES_PROCESS_TCPEXCHANGE_H
