//===- UserSecret.h - what only one user of a machine knows -----*- C++ -*-===//
#ifndef TESSERA_RUNTIME_SUPPORT_USERSECRET_H
#define TESSERA_RUNTIME_SUPPORT_USERSECRET_H

#include <string>

namespace tessera {

/// Returns `tessera/rendezvous-secret` in XDG_STATE_HOME, or in .local/state of
/// the user's home; "": there is neither.
std::string userSecretPath();

/// Returns the text of that file, which the first that asks makes of random
/// bytes, readable by the user alone. "": it cannot be made there, or this
/// build has no libcrypto. TSR_INVALID_ARGUMENT: it is another user's, others
/// may read it, or it holds no secret.
std::string userSecret();

} // namespace tessera

#endif // TESSERA_RUNTIME_SUPPORT_USERSECRET_H
