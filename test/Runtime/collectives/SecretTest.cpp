//===- SecretTest.cpp - processes that know a secret, and strangers -------===//
#include "runtime/collectives/process/Reception.h"
#include "test/Runtime/collectives/Strangers.h"

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
                "processes the same TESSERA_SECRET or --secret-file, made "
                "with: openssl rand -hex 32; or, if nobody else is on that "
                "network, --trust-network");
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

const std::string one = "one secret of all", other = "some other secret";

ProcessOptions processWith(const std::string &secret, int64_t rank,
                           int64_t size, const std::string &at) {
  ProcessOptions options = processOf(rank, size, at);
  options.secret = secret;
  return options;
}

TEST(Secret, WhoKnowsItTakesPart) {
  std::string at = freeRendezvous();
  for (const Status &status :
       joinAll({processWith(one, 0, 3, at), processWith(one, 1, 3, at),
                processWith(one, 2, 3, at)}))
    EXPECT_TRUE(status.ok()) << status.message;
}

struct Pair {
  std::string first, second, refused, why;
};

/// Rank 0 goes on waiting for who knows it.
TEST(Secret, WhoDoesNotIsRefusedAndBothSidesSayWhy) {
  for (const Pair &pair :
       {Pair{one, other, "it has another secret",
             "has another secret than this process"},
        Pair{one, "", "it has no secret",
             "asks for a secret, and this process has none; set "
             "TESSERA_SECRET or --secret-file"},
        Pair{"", other, "it has a secret, this process has none",
             "has no secret, and this process has one"}}) {
    std::string at = freeRendezvous();
    Notes notes;
    std::thread first([&] {
      ProcessOptions options = processWith(pair.first, 0, 2, at);
      options.note = notes.taker();
      EXPECT_TRUE(joinAs(options).ok());
    });
    Status refused = joinAs(processWith(pair.second, 1, 2, at));
    EXPECT_EQ(refused.code, TSR_MISMATCH);
    EXPECT_CONTAINS(refused.message, pair.why);
    EXPECT_TRUE(joinAs(processWith(pair.first, 1, 2, at)).ok());
    first.join();
    EXPECT_CONTAINS(notes.all(), "1 connection was refused, from 127.0.0.1: " +
                                     pair.refused);
  }
}

TEST(Secret, ShortOneIsRefused) {
  EXPECT_EQ(joinAs(processWith("0123456789abcde", 0, 1, "a:1")).message,
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
  for (bool knows : {true, false}) {
    std::vector<Socket> listeners = listenOn({"127.0.0.1", 0});
    std::thread called([&] {
      Socket socket = acceptFrom(listeners[0], soon());
      Opening opening = openingFor(secret), theirs;
      Digest proof;
      sendAll(socket, &opening, sizeof opening, soon());
      receiveAll(socket, &theirs, sizeof theirs, soon());
      receiveAll(socket, proof.data(), proof.size(), soon());
      proof = proofOf(knows ? secret : Secret(other), Side::Called, theirs,
                      opening);
      sendAll(socket, proof.data(), proof.size(), soon());
    });
    Socket caller =
        connectTo({"127.0.0.1", portOf(listeners[0])}, "rank 0", soon());
    std::string why;
    try {
      introduce(caller, secret, "rank 0", soon());
    } catch (const Error &error) {
      EXPECT_EQ(error.status.code, TSR_MISMATCH);
      why = error.status.message;
    }
    EXPECT_EQ(why,
              knows ? "" : "rank 0 does not know the secret of this process");
    called.join();
  }
}

/// A caller that has no proof hears none, but that its own was wrong.
TEST(Secret, NothingIsProvedToStrangers) {
  std::string at = freeRendezvous();
  std::thread first(
      [&] { EXPECT_TRUE(joinAs(processWith(one, 0, 2, at)).ok()); });
  Opening opening = openingFor(Secret(one)), theirs;
  Socket socket = stranger(at, "");
  Digest guess{}, answer = guess;
  sendAll(socket, &opening, sizeof opening, soon());
  receiveAll(socket, &theirs, sizeof theirs, soon());
  sendAll(socket, guess.data(), guess.size(), soon());
  receiveAll(socket, answer.data(), answer.size(), soon());
  EXPECT_EQ(answer, noProof());
  EXPECT_EQ(heardUntilClosed(socket), "");
  EXPECT_TRUE(joinAs(processWith(one, 1, 2, at)).ok());
  first.join();
}

/// A proof is of one connection: who has heard another one's cannot use it, nor
/// send back what it is answered.
TEST(Secret, ProofsCannotBeSentAgain) {
  Secret secret(one);
  std::vector<Socket> listeners = listenOn({"127.0.0.1", 0});
  std::string at = concat("127.0.0.1:", portOf(listeners[0]));
  Reception reception(std::move(listeners), secret, {100, 10, 1000});
  std::string heard; // the message of a friend
  Opening opening = openingFor(secret), theirs;
  for (bool isFriend : {true, false}) {
    std::thread called([&] {
      Visitor visitor = reception.next(soon());
      EXPECT_EQ(visitor.message, isFriend ? "friend" : "last");
    });
    Socket socket = stranger(at, "");
    sendAll(socket, &opening, sizeof opening, soon());
    receiveAll(socket, &theirs, sizeof theirs, soon());
    Digest proof = proofOf(secret, Side::Caller, opening, theirs), answer;
    if (isFriend)
      heard.assign(proof.begin(), proof.end());
    sendAll(socket, heard.data(), heard.size(), soon());
    receiveAll(socket, answer.data(), answer.size(), soon());
    EXPECT_EQ(isSame(answer, noProof()), !isFriend);
    if (isFriend) {
      sendText(socket, "friend", soon());
    } else {
      EXPECT_EQ(heardUntilClosed(socket), "");
      sendText(acquaintance(at, one), "last", soon());
    }
    called.join();
  }
}

/// One that closes before it has said whether it knows the secret has too many
/// callers: it is called again.
TEST(Secret, WhoIsNotHeardCallsAgain) {
  std::string at = freeRendezvous();
  std::vector<Socket> busy = listenOn(parseAddress(at));
  std::thread first([&] {
    acceptFrom(busy[0], soon());
    Socket second = acceptFrom(busy[0], soon());
    Opening opening = openingFor(Secret(one));
    sendAll(second, &opening, sizeof opening, soon());
    second.close();
    busy.clear();
    EXPECT_TRUE(joinAs(processWith(one, 0, 2, at)).ok());
  });
  Status status = joinAs(processWith(one, 1, 2, at));
  EXPECT_TRUE(status.ok()) << status.message;
  first.join();
}

#endif

} // namespace
