//===- ProcessExchange.h - one call's traffic -------------------*- C++ -*-===//
// Every member of the call sends its peers a frame that says what it calls,
// then that peer's bytes, while it receives the same. Engines move the bytes;
// checks, time-outs and diagnoses are the same with each of them.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_COLLECTIVES_PROCESS_PROCESSEXCHANGE_H
#define TESSERA_RUNTIME_COLLECTIVES_PROCESS_PROCESSEXCHANGE_H

#include "runtime/collectives/process/ProcessWorld.h"

namespace tessera {

/// The call that all members make, for checks and diagnoses.
struct ProcessCall {
  Offer offer;
  std::string where; ///< "over axis 'tp'"
  Lane lane;
  /// Why the peer's call does not go with ours; empty if it does.
  std::string (*objection)(const ProcessWorld &world, const ProcessCall &own,
                           const Offer &theirs, int64_t peer);
};

/// Returns when all is sent and received. Aborts the world on a disagreement,
/// a time-out, or a peer that is gone. Each peer has one transfer.
Status exchange(ProcessWorld &world, const ProcessCall &call,
                const std::vector<Transfer> &transfers);

} // namespace tessera

#endif // TESSERA_RUNTIME_COLLECTIVES_PROCESS_PROCESSEXCHANGE_H
