//===- Secret.h - what only the processes of a run know ---------*- C++ -*-===//
// HMAC-SHA256, random bytes and comparison are libcrypto's. A build without it
// refuses to take a secret.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_SUPPORT_SECRET_H
#define TESSERA_RUNTIME_SUPPORT_SECRET_H

#include <array>
#include <string>

namespace tessera {

using Digest = std::array<unsigned char, 32>;

class Secret {
public:
  /// Keeps no secret.
  Secret() = default;
  /// Keeps a secret; "": none. TSR_INVALID_ARGUMENT: too short;
  /// TSR_UNSUPPORTED: this build has no libcrypto.
  explicit Secret(std::string key);

  explicit operator bool() const { return !key.empty(); }
  /// Returns the text's HMAC-SHA256 under the secret.
  Digest authenticate(const std::string &text) const;

private:
  std::string key;
};

/// Returns a number for one connection, which never comes again.
Digest randomNonce();
/// Compares digests in a time that does not tell where they differ.
bool isSame(const Digest &one, const Digest &other);

} // namespace tessera

#endif // TESSERA_RUNTIME_SUPPORT_SECRET_H
