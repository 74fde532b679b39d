#include "runtime/support/Secret.h"

#include "runtime/support/Status.h"

#if TESSERA_HAS_LIBCRYPTO
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#endif

namespace tessera {

// Shorter ones can be found by trying.
static constexpr size_t shortestSecret = 16;

Secret::Secret(std::string given) : key(std::move(given)) {
  if (key.empty())
    return;
  if (key.size() < shortestSecret)
    fail(TSR_INVALID_ARGUMENT, "the secret has ", key.size(),
         " bytes, it must have at least ", shortestSecret,
         "; make one with: openssl rand -hex 32");
#if !TESSERA_HAS_LIBCRYPTO
  fail(TSR_UNSUPPORTED,
       "a secret is given, but this build has no libcrypto to use it with; "
       "install libssl-dev and build again");
#endif
}

#if TESSERA_HAS_LIBCRYPTO

Digest Secret::authenticate(const std::string &text) const {
  Digest digest{};
  unsigned bytes = 0;
  auto *data = reinterpret_cast<const unsigned char *>(text.data());
  if (!HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), data,
            text.size(), digest.data(), &bytes) ||
      bytes != digest.size())
    fail(TSR_INTERNAL, "libcrypto cannot compute an HMAC-SHA256");
  return digest;
}

Digest randomNonce() {
  Digest nonce{};
  if (RAND_bytes(nonce.data(), static_cast<int>(nonce.size())) != 1)
    fail(TSR_INTERNAL, "libcrypto has no random bytes");
  return nonce;
}

bool isSame(const Digest &one, const Digest &other) {
  return CRYPTO_memcmp(one.data(), other.data(), one.size()) == 0;
}

#else // no Secret exists that would need them

Digest Secret::authenticate(const std::string &) const { return {}; }
Digest randomNonce() { return {}; }
bool isSame(const Digest &, const Digest &) { return false; }

#endif

} // namespace tessera
