#include "runtime/support/Signature.h"

#include "runtime/support/File.h"
#include "runtime/support/Status.h"

#include <algorithm>

#if TESSERA_HAS_LIBCRYPTO
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#endif

namespace tessera {

bool hasSignatures() { return TESSERA_HAS_LIBCRYPTO; }

bool PublicKey::isOfSmallOrder() const {
  // The y of the points whose order divides 8, little-endian (RFC 8032, 5.1.2):
  // two of order 8, then 0, 1 and -1, and 0 and 1 once more as p and p + 1.
  // The highest bit is the sign of x.
  constexpr size_t last = TSR_KEY_BYTES - 1;
  constexpr uint8_t orderEight[2][TSR_KEY_BYTES] = {
      {0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4,
       0x89, 0xf2, 0xef, 0x98, 0xf0, 0xd5, 0xdf, 0xac, 0x05, 0xd3, 0xc6,
       0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53, 0xfc, 0x05},
      {0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b,
       0x76, 0x0d, 0x10, 0x67, 0x0f, 0x2a, 0x20, 0x53, 0xfa, 0x2c, 0x39,
       0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac, 0x03, 0x7a}};
  std::array<uint8_t, TSR_KEY_BYTES> y = bytes;
  y[last] &= 0x7f;
  for (const auto &known : orderEight)
    if (std::equal(y.begin(), y.end(), known))
      return true;
  auto middleIs = [&](uint8_t value) {
    return std::all_of(y.begin() + 1, y.end() - 1,
                       [&](uint8_t byte) { return byte == value; });
  };
  bool isSmall = y[0] <= 1 && middleIs(0) && y[last] == 0;
  bool isNearPrime =
      y[0] >= 0xec && y[0] <= 0xee && middleIs(0xff) && y[last] == 0x7f;
  return isSmall || isNearPrime;
}

#if TESSERA_HAS_LIBCRYPTO

namespace {
// A key in PEM has some hundred bytes.
constexpr uint64_t longestKeyFile = 1 << 16;
constexpr std::string_view pemBegin = "-----BEGIN ";

using SharedKey = std::shared_ptr<EVP_PKEY>;
using Hashing = std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)>;

struct KeyKind {
  const char *name;
  EVP_PKEY *(*read)(BIO *, EVP_PKEY **, pem_password_cb *, void *);
  const char *remedy;
};
constexpr KeyKind publicKind{
    "public", PEM_read_bio_PUBKEY,
    "make one of a private key with: openssl pkey -in KEY.pem -pubout -out "
    "KEY.pub.pem"};
constexpr KeyKind privateKind{
    "private", PEM_read_bio_PrivateKey,
    "make one with: openssl genpkey -algorithm ed25519 -out KEY.pem"};

/// The program around the runtime may read libcrypto's queue of errors.
struct OwnErrors {
  OwnErrors() { ERR_set_mark(); }
  ~OwnErrors() { ERR_pop_to_mark(); }
};

/// Wipes a text that may hold a private key when it goes out of scope.
struct WipedText {
  std::string text;
  ~WipedText() { OPENSSL_cleanse(text.data(), text.size()); }
};

/// libcrypto would ask the terminal.
int refusePassphrase(char *, int, int, void *wasAsked) {
  *static_cast<bool *>(wasAsked) = true;
  return -1;
}

SharedKey keyOf(const std::string &text, const KeyKind &kind,
                bool &isEncrypted) {
  std::unique_ptr<BIO, decltype(&BIO_free)> source(
      BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), BIO_free);
  if (!source)
    throw std::bad_alloc();
  return {kind.read(source.get(), nullptr, refusePassphrase, &isEncrypted),
          EVP_PKEY_free};
}

SharedKey readKey(const std::string &path, const KeyKind &kind) {
  OwnErrors errors;
  auto refuse = [&](const auto &...why) {
    fail(TSR_INVALID_ARGUMENT, "'", path, "' ", why...);
  };
  InputFile file(path);
  if (file.size() > longestKeyFile)
    refuse("has ", file.size(), " bytes, a key in PEM at most ", longestKeyFile,
           "; ", kind.remedy);
  WipedText content{file.readAll()};
  size_t first = content.text.find(pemBegin);
  if (first != std::string::npos &&
      content.text.find(pemBegin, first + 1) != std::string::npos)
    refuse("holds more than one key; give each a file of its own");
  bool isEncrypted = false;
  SharedKey key = keyOf(content.text, kind, isEncrypted);
  if (isEncrypted)
    refuse("is protected by a passphrase, which cannot be asked for; decrypt "
           "it with: openssl pkey -in KEY.pem -out PLAIN.pem");
  if (!key)
    refuse("holds no ", kind.name, " key in PEM; ", kind.remedy);
  if (int type = EVP_PKEY_base_id(key.get()); type != EVP_PKEY_ED25519) {
    const char *name = OBJ_nid2sn(type);
    refuse("holds a key of type ", name ? name : "unknown",
           ", signatures need ED25519; ", privateKind.remedy);
  }
  return key;
}

PublicKey publicPartOf(const SharedKey &key) {
  PublicKey result;
  size_t bytes = result.bytes.size();
  if (EVP_PKEY_get_raw_public_key(key.get(), result.bytes.data(), &bytes) !=
          1 ||
      bytes != result.bytes.size())
    fail(TSR_INTERNAL, "libcrypto cannot read an Ed25519 public key");
  return result;
}

SharedKey keyOf(const PublicKey &key) {
  SharedKey result(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr,
                                               key.bytes.data(),
                                               key.bytes.size()),
                   EVP_PKEY_free);
  if (!result)
    fail(TSR_INTERNAL, "libcrypto has no Ed25519");
  return result;
}

const unsigned char *dataOf(std::string_view message) {
  return reinterpret_cast<const unsigned char *>(message.data());
}
} // namespace

PublicKey readPublicKey(const std::string &path) {
  return publicPartOf(readKey(path, publicKind));
}

std::string PublicKey::fingerprint() const {
  OwnErrors errors;
  SharedKey key = keyOf(*this);
  unsigned char *der = nullptr;
  int derBytes = i2d_PUBKEY(key.get(), &der);
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned bytes = 0;
  bool isDone = derBytes > 0 && EVP_Digest(der, derBytes, digest.data(), &bytes,
                                           EVP_sha256(), nullptr) == 1;
  OPENSSL_free(der);
  if (!isDone)
    fail(TSR_INTERNAL, "libcrypto cannot compute the SHA-256 of a key");
  std::string text;
  for (unsigned i = 0; i < bytes; ++i)
    for (int nibble : {digest[i] >> 4, digest[i] & 15})
      text += "0123456789abcdef"[nibble];
  return text;
}

bool PublicKey::hasSigned(std::string_view message,
                          const Signature &signature) const {
  OwnErrors errors;
  SharedKey key = keyOf(*this);
  Hashing hashing(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  if (!hashing || EVP_DigestVerifyInit(hashing.get(), nullptr, nullptr, nullptr,
                                       key.get()) != 1)
    fail(TSR_INTERNAL, "libcrypto cannot check Ed25519 signatures");
  return EVP_DigestVerify(hashing.get(), signature.data(), signature.size(),
                          dataOf(message), message.size()) == 1;
}

PrivateKey::PrivateKey(const std::string &path)
    : key(readKey(path, privateKind)) {}

PublicKey PrivateKey::publicKey() const { return publicPartOf(key); }

Signature PrivateKey::sign(std::string_view message) const {
  OwnErrors errors;
  Signature signature;
  size_t bytes = signature.size();
  Hashing hashing(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  if (!hashing ||
      EVP_DigestSignInit(hashing.get(), nullptr, nullptr, nullptr, key.get()) !=
          1 ||
      EVP_DigestSign(hashing.get(), signature.data(), &bytes, dataOf(message),
                     message.size()) != 1 ||
      bytes != signature.size())
    fail(TSR_INTERNAL, "libcrypto cannot sign with Ed25519");
  return signature;
}

#else

[[noreturn]] static void refuseKey() {
  fail(TSR_UNSUPPORTED,
       "this build has no libcrypto, which signatures need; install libssl-dev "
       "and build again");
}

PublicKey readPublicKey(const std::string &) { refuseKey(); }
std::string PublicKey::fingerprint() const { refuseKey(); }
bool PublicKey::hasSigned(std::string_view, const Signature &) const {
  refuseKey();
}
PrivateKey::PrivateKey(const std::string &) { refuseKey(); }
PublicKey PrivateKey::publicKey() const { refuseKey(); }
Signature PrivateKey::sign(std::string_view) const { refuseKey(); }

#endif

} // namespace tessera
