//===- SignatureTest.cpp - artifacts that must be signed ------------------===//
#include "tessera/abi.h"
#include "tessera/tessera.hpp"
#include "test/Runtime/fixture/Fixture.h"

#include <cstring>
#include <filesystem>
#include <gtest/gtest.h>
#define XXH_INLINE_ALL
#include <xxhash.h>
#if TESSERA_HAS_LIBCRYPTO
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#endif

using namespace fixture;

namespace {

#if !TESSERA_HAS_LIBCRYPTO

TEST(Signature, NeedsLibcrypto) {
  TemporaryDirectory directory;
  std::string path = writeArtifact(directory / "model.tsr", 1, 1);
  const char *key = path.c_str();
  tsr_artifact *artifact = nullptr;
  EXPECT_EQ(tsr_artifact_load_trusted(path.c_str(), &key, 1, &artifact),
            TSR_UNSUPPORTED);
  EXPECT_EQ(artifact, nullptr);
  EXPECT_CONTAINS(tsr_last_error(), "install libssl-dev");
  const void *bytes = nullptr;
  size_t count = 0;
  EXPECT_EQ(tsr_artifact_sign(path.c_str(), key, &bytes, &count),
            TSR_UNSUPPORTED);
}

/// One that is signed elsewhere trains here, but nobody says by whom it is.
TEST(Signature, OfOthersIsNotChecked) {
  TemporaryDirectory directory;
  std::string path = directory / "model.tsr";
  std::string signedOne = artifactOf(metadataOf(1, 1).dump(), codeOf(1, 1));
  signedOne[offsetof(tsr_abi_header, key)] = 1;
  writeFile(path, signedOne);
  tsr_artifact *artifact = nullptr;
  ASSERT_EQ(tsr_artifact_load(path.c_str(), &artifact), TSR_OK)
      << tsr_last_error();
  const char *signer = nullptr;
  EXPECT_EQ(tsr_artifact_signer(artifact, &signer), TSR_UNSUPPORTED);
  tsr_artifact_destroy(artifact);
}

#else

using Key = std::shared_ptr<EVP_PKEY>;

Key makeKey(int type) {
  std::unique_ptr<EVP_PKEY_CTX, decltype(&EVP_PKEY_CTX_free)> context(
      EVP_PKEY_CTX_new_id(type, nullptr), EVP_PKEY_CTX_free);
  EVP_PKEY *key = nullptr;
  EXPECT_EQ(EVP_PKEY_keygen_init(context.get()), 1);
  if (type == EVP_PKEY_RSA)
    EXPECT_EQ(EVP_PKEY_CTX_set_rsa_keygen_bits(context.get(), 2048), 1);
  EXPECT_EQ(EVP_PKEY_keygen(context.get(), &key), 1);
  return {key, EVP_PKEY_free};
}

/// Returns the text that `write` puts into a BIO.
template <class Write> std::string pemOf(const Write &write) {
  std::unique_ptr<BIO, decltype(&BIO_free)> bio(BIO_new(BIO_s_mem()), BIO_free);
  EXPECT_EQ(write(bio.get()), 1);
  char *data = nullptr;
  long bytes = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<size_t>(bytes)};
}

std::string publicPem(const Key &key) {
  return pemOf([&](BIO *bio) { return PEM_write_bio_PUBKEY(bio, key.get()); });
}

std::string privatePem(const Key &key, const EVP_CIPHER *cipher = nullptr) {
  return pemOf([&](BIO *bio) {
    return PEM_write_bio_PrivateKey(bio, key.get(), cipher, nullptr, 0, nullptr,
                                    cipher ? const_cast<char *>("pass")
                                           : nullptr);
  });
}

/// A pair of keys, `mine`, with which `model.tsr` is signed, and `other`.
class Signature : public ::testing::Test {
protected:
  Signature() {
    writeArtifact(artifact, 2, 2);
    for (const char *name : {"mine", "other"})
      writeKey(name, makeKey(EVP_PKEY_ED25519));
    plain = readFile(artifact);
    good = sign("mine");
    writeFile(artifact, good);
  }

  void writeKey(const std::string &name, const Key &key) {
    writeFile(directory / (name + ".pem"), privatePem(key));
    writeFile(directory / (name + ".pub.pem"), publicPem(key));
  }
  /// Returns the bytes of `artifact`, signed; "" and a status of failure.
  std::string sign(const std::string &name, tsr_status expected = TSR_OK) {
    std::string key = directory / (name + ".pem");
    const void *bytes = nullptr;
    size_t count = 0;
    EXPECT_EQ(tsr_artifact_sign(artifact.c_str(), key.c_str(), &bytes, &count),
              expected)
        << tsr_last_error();
    EXPECT_EQ(bytes == nullptr, expected != TSR_OK);
    return {static_cast<const char *>(bytes), count};
  }
  tsr_status loadFile(const std::vector<std::string> &names,
                      tsr_artifact **loaded) {
    std::vector<std::string> paths;
    for (const std::string &name : names)
      paths.push_back(directory / (name + ".pub.pem"));
    std::vector<const char *> keys;
    for (const std::string &path : paths)
      keys.push_back(path.c_str());
    return tsr_artifact_load_trusted(artifact.c_str(), keys.data(), keys.size(),
                                     loaded);
  }
  tsr_status load(const std::string &content,
                  const std::vector<std::string> &names = {"mine"}) {
    writeFile(artifact, content);
    tsr_artifact *loaded = nullptr;
    tsr_status status = loadFile(names, &loaded);
    EXPECT_EQ(loaded != nullptr, status == TSR_OK);
    tsr_artifact_destroy(loaded);
    return status;
  }
  /// Loads an artifact that anyone may have signed.
  tsr_status loadAny(const std::string &content,
                     std::string *signer = nullptr) {
    writeFile(artifact, content);
    tsr_artifact *loaded = nullptr;
    tsr_status status = tsr_artifact_load(artifact.c_str(), &loaded);
    const char *text = nullptr;
    if (loaded && signer) {
      EXPECT_EQ(tsr_artifact_signer(loaded, &text), TSR_OK);
      *signer = text;
    }
    tsr_artifact_destroy(loaded);
    return status;
  }
  std::string signerOf(const std::string &content) {
    std::string signer;
    EXPECT_EQ(loadAny(content, &signer), TSR_OK) << tsr_last_error();
    return signer;
  }
  /// Writes a hash that fits, as whoever changes a file would: only the
  /// signature is wrong then.
  static std::string withHash(std::string content) {
    uint64_t hash = XXH3_64bits(&content[sizeof(tsr_abi_header)],
                                content.size() - sizeof(tsr_abi_header));
    std::memcpy(&content[offsetof(tsr_abi_header, hash)], &hash, sizeof hash);
    return content;
  }

  TemporaryDirectory directory;
  std::string artifact = directory / "model.tsr", plain, good;
};

constexpr size_t keyAt = offsetof(tsr_abi_header, key),
                 signatureAt = offsetof(tsr_abi_header, signature),
                 bodyAt = sizeof(tsr_abi_header);

TEST_F(Signature, OfATrustedKeyIsTaken) {
  EXPECT_EQ(load(good), TSR_OK) << tsr_last_error();
  EXPECT_EQ(load(good, {"other", "mine"}), TSR_OK) << tsr_last_error();
  EXPECT_EQ(loadAny(good), TSR_OK) << tsr_last_error();
  EXPECT_EQ(signerOf(good).size(), 64u);
  EXPECT_EQ(signerOf(plain), "");
}

/// docs/Artifact.md, checked without the runtime.
TEST_F(Signature, IsOfTheFileWithZerosInItsPlace) {
  ASSERT_EQ(bodyAt, 136u);
  EXPECT_EQ(good.substr(0, keyAt), plain.substr(0, keyAt));
  EXPECT_EQ(good.substr(bodyAt), plain.substr(bodyAt));
  Key key(EVP_PKEY_new_raw_public_key(
              EVP_PKEY_ED25519, nullptr,
              reinterpret_cast<unsigned char *>(&good[40]), 32),
          EVP_PKEY_free);
  std::string zeroed = good;
  std::memset(&zeroed[72], 0, 64);
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(
      EVP_MD_CTX_new(), EVP_MD_CTX_free);
  ASSERT_EQ(
      EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key.get()),
      1);
  EXPECT_EQ(EVP_DigestVerify(context.get(),
                             reinterpret_cast<unsigned char *>(&good[72]), 64,
                             reinterpret_cast<unsigned char *>(zeroed.data()),
                             zeroed.size()),
            1);
  EXPECT_EQ(publicPem(key), readFile(directory / "mine.pub.pem"));
}

TEST_F(Signature, OfAnotherKeyNamesBoth) {
  std::string mine = signerOf(good);
  writeFile(artifact, plain);
  std::string byOther = sign("other"), other = signerOf(byOther);
  EXPECT_NE(mine, other);
  EXPECT_EQ(load(byOther), TSR_UNTRUSTED);
  EXPECT_CONTAINS(tsr_last_error(), "model.tsr' is signed by key " + other +
                                        ", it must be by key " + mine);
  EXPECT_STREQ(tsr_status_name(TSR_UNTRUSTED), "untrusted");
}

TEST_F(Signature, WrapperDemandsIt) {
  tessera::Artifact loaded(artifact, {directory / "mine.pub.pem"});
  EXPECT_EQ(loaded.signer(), signerOf(good));
  try {
    tessera::Artifact(artifact, {directory / "other.pub.pem"});
    ADD_FAILURE();
  } catch (const tessera::Exception &error) {
    EXPECT_EQ(error.status(), TSR_UNTRUSTED);
  }
  EXPECT_THROW(tessera::Artifact(artifact, std::vector<std::string>()),
               tessera::Exception);
}

TEST_F(Signature, AbsentOrRemovedIsUntrusted) {
  std::string mine = signerOf(good), removed = good;
  std::memset(&removed[keyAt], 0, bodyAt - keyAt);
  EXPECT_EQ(removed, plain);
  EXPECT_EQ(load(plain, {"mine", "other"}), TSR_UNTRUSTED);
  EXPECT_CONTAINS(tsr_last_error(),
                  "model.tsr' is not signed, it must be by key " + mine +
                      " or ");
}

TEST_F(Signature, ReplacesTheOneBefore) {
  writeFile(artifact, good);
  std::string byOther = sign("other");
  EXPECT_EQ(byOther.size(), good.size());
  EXPECT_EQ(load(byOther, {"other"}), TSR_OK) << tsr_last_error();
  EXPECT_EQ(load(byOther), TSR_UNTRUSTED);
  writeFile(artifact, byOther);
  EXPECT_EQ(sign("mine"), good); // Ed25519 has no random numbers
}

TEST_F(Signature, EveryFlippedBitIsRefused) {
  for (size_t bit = 0; bit < good.size() * 8; bit += bit < 160 * 8 ? 1 : 1021) {
    std::string changed = good;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
    if (bit / 8 >= bodyAt)
      changed = withHash(changed);
    ASSERT_EQ(load(changed), TSR_CORRUPT) << bit;
    ASSERT_EQ(loadAny(changed), TSR_CORRUPT) << bit;
  }
}

TEST_F(Signature, EveryOtherLengthIsRefused) {
  for (size_t length = 0; length < good.size();
       length += length < 300 ? 1 : 997)
    ASSERT_EQ(load(good.substr(0, length)), TSR_CORRUPT) << length;
  EXPECT_EQ(load(good + "x"), TSR_CORRUPT);
  // With a header that says so, too.
  tsr_abi_header header;
  std::memcpy(&header, good.data(), sizeof header);
  ++header.code_bytes;
  std::string longer = good + "x";
  std::memcpy(longer.data(), &header, sizeof header);
  EXPECT_EQ(load(withHash(longer)), TSR_CORRUPT);
  EXPECT_CONTAINS(tsr_last_error(), "has a signature that key ");
  // The border between metadata and code is also signed.
  header.code_bytes -= 2;
  ++header.metadata_bytes;
  std::string shifted = good;
  std::memcpy(shifted.data(), &header, sizeof header);
  EXPECT_EQ(load(shifted), TSR_CORRUPT);
  EXPECT_CONTAINS(tsr_last_error(), "has a signature that key ");
}

TEST_F(Signature, OfAnotherFileOrByAnotherKeyDoesNotFit) {
  writeArtifact(artifact, 1, 1);
  std::string moved = readFile(artifact);
  std::memcpy(&moved[keyAt], &good[keyAt], bodyAt - keyAt);
  EXPECT_EQ(load(moved), TSR_CORRUPT);
  writeFile(artifact, plain);
  std::string claimed = sign("other");
  std::memcpy(&claimed[keyAt], &good[keyAt], signatureAt - keyAt);
  EXPECT_EQ(load(claimed), TSR_CORRUPT);
  EXPECT_CONTAINS(tsr_last_error(), signerOf(good));
}

TEST_F(Signature, UnusableKeysAreRefused) {
  Key mine = makeKey(EVP_PKEY_ED25519), rsa = makeKey(EVP_PKEY_RSA);
  std::string pem = publicPem(mine);
  struct {
    std::string content;
    const char *message;
  } cases[] = {
      {"", "holds no public key in PEM; make one of a private key with"},
      {"ssh-ed25519 AAAA", "holds no public key in PEM"},
      {privatePem(mine), "holds no public key in PEM"},
      {pem.substr(0, 60), "holds no public key in PEM"},
      {pem.substr(0, 40) + "!" + pem.substr(41), "holds no public key in PEM"},
      {publicPem(rsa), "holds a key of type rsaEncryption, signatures need "
                       "ED25519; make one with: openssl genpkey"},
      {publicPem(makeKey(EVP_PKEY_X25519)), "holds a key of type X25519"},
      {publicPem(makeKey(EVP_PKEY_ED448)), "holds a key of type ED448"},
      {pem + pem, "holds more than one key"},
      {std::string(1 << 17, '\n'), "has 131072 bytes, a key in PEM at most "}};
  for (const auto &c : cases) {
    writeFile(directory / "bad.pub.pem", c.content);
    EXPECT_EQ(load(good, {"mine", "bad"}), TSR_INVALID_ARGUMENT) << c.content;
    EXPECT_CONTAINS(tsr_last_error(), c.message);
    EXPECT_CONTAINS(tsr_last_error(), "bad.pub.pem'");
  }
  EXPECT_EQ(load(good, {"absent"}), TSR_NOT_FOUND);
  EXPECT_EQ(load(good, {}), TSR_INVALID_ARGUMENT);
}

TEST_F(Signature, UnusablePrivateKeysAreRefused) {
  Key mine = makeKey(EVP_PKEY_ED25519);
  struct {
    std::string content;
    const char *message;
  } cases[] = {
      {"", "holds no private key in PEM; make one with: openssl"},
      {publicPem(mine), "holds no private key in PEM"},
      {privatePem(makeKey(EVP_PKEY_RSA)), "a key of type rsaEncryption"},
      {privatePem(makeKey(EVP_PKEY_X25519)), "a key of type X25519"},
      {privatePem(mine, EVP_aes_256_cbc()),
       "is protected by a passphrase, which cannot be asked for"}};
  for (const auto &c : cases) {
    writeFile(directory / "bad.pem", c.content);
    sign("bad", TSR_INVALID_ARGUMENT);
    EXPECT_CONTAINS(tsr_last_error(), c.message);
  }
  sign("absent", TSR_NOT_FOUND);
}

TEST_F(Signature, IsNotGivenToADamagedFile) {
  for (std::string damaged : {good, plain}) {
    damaged[bodyAt] = static_cast<char>(damaged[bodyAt] ^ 1);
    writeFile(artifact, damaged);
    sign("mine", TSR_CORRUPT);
  }
  std::string altered = good;
  altered[bodyAt] = ' ';
  writeFile(artifact, withHash(altered));
  sign("other", TSR_CORRUPT); // the old signature does not fit
}

/// A file that changes after it was checked changes nothing.
TEST_F(Signature, IsOfWhatRuns) {
  std::string trace = directory / "trace";
  std::string hostile =
      artifactOf(metadataOf(1, 1).dump(), readFile(FIXTURE_CONSTRUCTOR));
  setenv("TESSERA_TEST_TRACE", trace.c_str(), 1);
  writeArtifact(artifact, 1, 1);
  writeFile(artifact, sign("mine"));
  tsr_artifact *loaded = nullptr;
  ASSERT_EQ(loadFile({"mine"}, &loaded), TSR_OK) << tsr_last_error();
  writeFile(artifact, hostile);
  tsr_session *session = nullptr;
  EXPECT_EQ(tsr_session_create(loaded, nullptr, &session), TSR_OK)
      << tsr_last_error();
  EXPECT_FALSE(std::filesystem::exists(trace));
  tsr_session_destroy(session);
  tsr_artifact_destroy(loaded);
  EXPECT_EQ(load(hostile), TSR_UNTRUSTED);
  unsetenv("TESSERA_TEST_TRACE");
}

#endif

} // namespace
