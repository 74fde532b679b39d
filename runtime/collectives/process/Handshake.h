//===- Handshake.h - how processes show that they know ----------*- C++ -*-===//
// The first words on every connection. Both sides send an opening with a nonce.
// If they have a secret, the one that called then shows that it knows it, by
// the HMAC of both nonces, and after that the one that was called. It proves
// who connects; what follows is neither encrypted nor authenticated.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_COLLECTIVES_PROCESS_HANDSHAKE_H
#define TESSERA_RUNTIME_COLLECTIVES_PROCESS_HANDSHAKE_H

#include "runtime/collectives/process/Socket.h"
#include "runtime/support/Secret.h"

#include <cstdint>

namespace tessera {

struct Opening {
  char magic[8];
  uint64_t hasSecret;
  Digest nonce;
};
Opening openingFor(const Secret &secret);
/// Returns whether an opening is one of this protocol.
bool isOpening(const Opening &opening);
/// Returns whether the bytes that have come so far can be the beginning of an
/// opening, or all of it.
bool beginsOpening(const std::string &bytes);

/// The side of a connection that proves that it knows the secret.
enum class Side { Caller, Called };
Digest proofOf(const Secret &secret, Side side, const Opening &caller,
               const Opening &called);
/// The called side sends it in place of its proof if the caller's was wrong.
Digest noProof();

/// Introduces the side that calls; `what` names the other one. TSR_MISMATCH:
/// they do not have the same secret, or the other one is no process of this
/// version. TSR_IO: it closed before it said so, as it does where too many
/// come.
void introduce(const Socket &socket, const Secret &secret,
               const std::string &what, Deadline deadline);

} // namespace tessera

#endif // TESSERA_RUNTIME_COLLECTIVES_PROCESS_HANDSHAKE_H
