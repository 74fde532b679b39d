//===- Signature.h - Ed25519 keys and signatures ----------------*- C++ -*-===//
// RFC 8032, by libcrypto. Keys are PEM files as openssl writes them. A build
// without libcrypto can read none, which is TSR_UNSUPPORTED.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_SUPPORT_SIGNATURE_H
#define TESSERA_RUNTIME_SUPPORT_SIGNATURE_H

#include "tessera/abi.h"

#include <array>
#include <memory>
#include <string>
#include <string_view>

struct evp_pkey_st; // libcrypto's EVP_PKEY

namespace tessera {

using Signature = std::array<uint8_t, TSR_SIGNATURE_BYTES>;

/// Returns whether this build can check signatures.
bool hasSignatures();

struct PublicKey {
  std::array<uint8_t, TSR_KEY_BYTES> bytes{};

  bool operator==(const PublicKey &other) const { return bytes == other.bytes; }
  /// Returns the SHA-256 of the key in DER, 64 hexadecimal digits.
  /// TSR_UNSUPPORTED.
  std::string fingerprint() const;
  /// Returns whether the key is no point of large order. Of every few contents
  /// one has a signature by such a key, which nobody made.
  bool isOfSmallOrder() const;
  /// Returns whether the owner of the key has signed `message`.
  /// TSR_UNSUPPORTED.
  bool hasSigned(std::string_view message, const Signature &signature) const;
};

/// Reads a public key. TSR_NOT_FOUND, TSR_IO; TSR_INVALID_ARGUMENT: it holds no
/// such key.
PublicKey readPublicKey(const std::string &path);

class PrivateKey {
public:
  /// Returns the errors as of readPublicKey; a key that a passphrase protects
  /// is refused.
  explicit PrivateKey(const std::string &path);

  PublicKey publicKey() const;
  Signature sign(std::string_view message) const;

private:
  std::shared_ptr<evp_pkey_st> key;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_SUPPORT_SIGNATURE_H
