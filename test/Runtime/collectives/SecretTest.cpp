//===- SecretTest.cpp - processes that know a secret, and strangers -------===//
#include "runtime/collectives/process/Handshake.h"
#include "runtime/support/Status.h"
#include "test/Runtime/collectives/CommunicatorWorld.h"

#include <cstring>
#include <thread>

using namespace tessera;
using namespace fixture;

namespace {

TEST(Secret, OtherMachinesNeedOneOrTrust) {
  for (int64_t rank : {0, 1})
    try {
      joinProcesses(processOf(rank, 2, "192.0.2.1:4000"), {});
      ADD_FAILURE();
    } catch (const Error &error) {
      EXPECT_EQ(error.status.code, TSR_INVALID_ARGUMENT);
      EXPECT_EQ(error.status.message,
                "the rendezvous 192.0.2.1:4000 is at 192.0.2.1, which other "
                "machines can reach, and there is no secret; give all "
                "processes the same TESSERA_SECRET or --secret-file, or, if "
                "nobody else is on that network, --trust-network");
    }
}

TEST(Opening, SaysWhetherThereIsASecret) {
  Opening opening = openingFor(Secret());
  EXPECT_EQ(opening.hasSecret, 0u);
  EXPECT_TRUE(isOpening(opening));
  opening.hasSecret = 1;
  EXPECT_TRUE(isOpening(opening));
  opening.hasSecret = 2;
  EXPECT_FALSE(isOpening(opening));
  opening.hasSecret = 0;
  opening.magic[7] += 1;
  EXPECT_FALSE(isOpening(opening));
}

#if !TESSERA_HAS_LIBCRYPTO

TEST(Secret, NeedsLibcrypto) {
  ProcessOptions options = processOf(0, 2, freeRendezvous());
  options.secret = "0123456789abcdef";
  EXPECT_THROW(joinProcesses(options, {}), Error);
}

#else

/// What joining ends with for each process, with secrets by rank.
std::vector<Status>
join(const std::vector<std::string> &secrets,
     std::chrono::milliseconds timeout = std::chrono::milliseconds(4000)) {
  std::string at = freeRendezvous();
  std::vector<Status> results(secrets.size());
  std::vector<std::thread> threads;
  for (size_t rank = 0; rank < secrets.size(); ++rank)
    threads.emplace_back([&, rank] {
      ProcessOptions options = processOf(
          static_cast<int64_t>(rank), static_cast<int64_t>(secrets.size()), at);
      options.secret = secrets[rank];
      options.timeout = timeout;
      try {
        joinProcesses(options, {});
      } catch (...) {
        results[rank] = currentStatus();
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  return results;
}

const std::string one = "one secret of all", other = "some other secret";

TEST(Secret, WhoKnowsItTakesPart) {
  for (const Status &status : join({one, one, one}, std::chrono::seconds(300)))
    EXPECT_TRUE(status.ok()) << status.message;
}

struct Pair {
  std::string first, second, refused, why;
};

TEST(Secret, WhoDoesNotIsRefusedAndBothSidesSayWhy) {
  for (const Pair &pair :
       {Pair{one, other, "it has another secret",
             "has another secret than this process"},
        Pair{one, "", "it has no secret",
             "asks for a secret, and this process has none; set "
             "TESSERA_SECRET or --secret-file"},
        Pair{"", other, "it has a secret, this process has none",
             "has no secret, and this process has one"}}) {
    std::vector<Status> results = join({pair.first, pair.second});
    EXPECT_EQ(results[0].code, TSR_TIMEOUT);
    EXPECT_NE(results[0].message.find(
                  "; 1 connection was refused, the last from 127.0.0.1: " +
                  pair.refused),
              std::string::npos)
        << results[0].message;
    EXPECT_EQ(results[1].code, TSR_MISMATCH);
    EXPECT_NE(results[1].message.find(pair.why), std::string::npos)
        << results[1].message;
  }
}

TEST(Secret, ShortOneIsRefused) {
  EXPECT_EQ(join({"0123456789abcde"})[0].message,
            "the secret has 15 bytes, it must have at least 16; make one "
            "with: openssl rand -hex 32");
}

/// RFC 4231, test case 2's key is too short for us; this is case 3.
TEST(Secret, IsHmacSha256) {
  Digest digest =
      Secret(std::string(20, '\xaa')).authenticate(std::string(50, '\xdd'));
  const unsigned char expected[] = {
      0x77, 0x3e, 0xa9, 0x1e, 0x36, 0x80, 0x0e, 0x46, 0x85, 0x4d, 0xb8,
      0xeb, 0xd0, 0x91, 0x81, 0xa7, 0x29, 0x59, 0x09, 0x8b, 0x3e, 0xf8,
      0xc1, 0x22, 0xd9, 0x63, 0x55, 0x14, 0xce, 0xd5, 0x65, 0xfe};
  EXPECT_EQ(std::memcmp(digest.data(), expected, sizeof expected), 0);
}

/// Neither side's proof is the other's, nor one of another connection.
TEST(Secret, ProofIsOfOneSideAndOneConnection) {
  Secret secret(one);
  Opening caller = openingFor(secret), called = openingFor(secret);
  EXPECT_FALSE(isSame(caller.nonce, called.nonce));
  Digest proof = proofOf(secret, Side::Caller, caller, called);
  EXPECT_TRUE(isSame(proof, proofOf(secret, Side::Caller, caller, called)));
  EXPECT_FALSE(isSame(proof, proofOf(secret, Side::Called, caller, called)));
  EXPECT_FALSE(isSame(proof, proofOf(secret, Side::Caller, called, caller)));
  EXPECT_FALSE(
      isSame(proof, proofOf(Secret(other), Side::Caller, caller, called)));
  EXPECT_FALSE(
      isSame(proof, proofOf(secret, Side::Caller, caller, openingFor(secret))));
}

/// Somebody listens where rank 0 should.
TEST(Secret, WhoIsCalledMustProveIt) {
  Secret secret(one);
  auto deadline = [] {
    return std::chrono::steady_clock::now() + std::chrono::seconds(300);
  };
  for (bool knows : {true, false}) {
    std::vector<Socket> listeners = listenOn({"127.0.0.1", 0});
    std::thread called([&] {
      Socket socket = acceptFrom(listeners[0], deadline());
      Opening opening = openingFor(secret), theirs;
      Digest proof;
      sendAll(socket, &opening, sizeof opening, deadline());
      receiveAll(socket, &theirs, sizeof theirs, deadline());
      receiveAll(socket, proof.data(), proof.size(), deadline());
      proof = proofOf(knows ? secret : Secret(other), Side::Called, theirs,
                      opening);
      sendAll(socket, proof.data(), proof.size(), deadline());
    });
    Socket caller =
        connectTo({"127.0.0.1", portOf(listeners[0])}, "rank 0", deadline());
    std::string why;
    try {
      introduce(caller, secret, "rank 0", deadline());
    } catch (const Error &error) {
      EXPECT_EQ(error.status.code, TSR_MISMATCH);
      why = error.status.message;
    }
    EXPECT_EQ(why,
              knows ? "" : "rank 0 does not know the secret of this process");
    called.join();
  }
}

/// A caller that has no proof hears none.
TEST(Secret, NothingIsProvedToStrangers) {
  std::string at = freeRendezvous();
  auto deadline = [] {
    return std::chrono::steady_clock::now() + std::chrono::seconds(300);
  };
  std::thread stranger([&] {
    Socket socket = connectTo(parseAddress(at), "rank 0", deadline());
    Opening opening = openingFor(Secret(one)), theirs;
    Digest guess{};
    sendAll(socket, &opening, sizeof opening, deadline());
    receiveAll(socket, &theirs, sizeof theirs, deadline());
    sendAll(socket, guess.data(), guess.size(), deadline());
    char byte;
    EXPECT_THROW(receiveAll(socket, &byte, 1, deadline()), Error);
  });
  ProcessOptions options = processOf(0, 2, at);
  options.secret = one;
  options.timeout = std::chrono::milliseconds(4000);
  EXPECT_THROW(joinProcesses(options, {}), Error);
  stranger.join();
}

#endif

} // namespace
