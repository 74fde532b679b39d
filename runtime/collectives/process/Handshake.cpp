#include "runtime/collectives/process/Handshake.h"

#include "runtime/support/Status.h"

#include <algorithm>
#include <cstring>

namespace tessera {

static constexpr char openingMagic[] = "TSRWIRE1";

Opening openingFor(const Secret &secret) {
  Opening opening{};
  std::memcpy(opening.magic, openingMagic, sizeof opening.magic);
  opening.hasSecret = secret ? 1 : 0;
  if (secret)
    opening.nonce = randomNonce();
  return opening;
}

bool isOpening(const Opening &opening) {
  return std::memcmp(opening.magic, openingMagic, sizeof opening.magic) == 0 &&
         opening.hasSecret <= 1;
}

bool beginsOpening(const std::string &bytes) {
  if (bytes.size() < sizeof(Opening)) {
    size_t count = std::min(bytes.size(), sizeof(Opening::magic));
    return std::memcmp(bytes.data(), openingMagic, count) == 0;
  }
  Opening opening;
  std::memcpy(&opening, bytes.data(), sizeof opening);
  return isOpening(opening);
}

Digest noProof() { return {}; }

/// The name of the side keeps a proof from being sent back as the other's.
Digest proofOf(const Secret &secret, Side side, const Opening &caller,
               const Opening &called) {
  std::string text(openingMagic);
  text += side == Side::Caller ? " caller" : " called";
  for (const Opening *opening : {&caller, &called})
    text.append(opening->nonce.begin(), opening->nonce.end());
  return secret.authenticate(text);
}

static void checkOpening(const Opening &theirs, const Secret &secret,
                         const std::string &what) {
  if (!isOpening(theirs))
    fail(TSR_MISMATCH, what, " is no process of this version of Tessera");
  if (theirs.hasSecret && !secret)
    fail(TSR_MISMATCH, what,
         " asks for a secret, and this process has none; "
         "set TESSERA_SECRET or --secret-file");
  if (!theirs.hasSecret && secret)
    fail(TSR_MISMATCH, what,
         " has no secret, and this process has one; give all processes the "
         "same TESSERA_SECRET or --secret-file");
}

void introduce(const Socket &socket, const Secret &secret,
               const std::string &what, Deadline deadline) {
  Opening own = openingFor(secret), theirs;
  sendAll(socket, &own, sizeof own, deadline);
  receiveAll(socket, &theirs, sizeof theirs, deadline);
  checkOpening(theirs, secret, what);
  if (!secret)
    return;
  Digest proof = proofOf(secret, Side::Caller, own, theirs);
  sendAll(socket, proof.data(), proof.size(), deadline);
  receiveAll(socket, proof.data(), proof.size(), deadline);
  if (isSame(proof, noProof()))
    fail(TSR_MISMATCH, what,
         " has another secret than this process; give all processes the same "
         "TESSERA_SECRET or --secret-file");
  if (!isSame(proof, proofOf(secret, Side::Called, own, theirs)))
    fail(TSR_MISMATCH, what, " does not know the secret of this process");
}

} // namespace tessera
