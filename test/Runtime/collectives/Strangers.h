//===- Strangers.h - who else may come to a rendezvous ----------*- C++ -*-===//
#ifndef TESSERA_TEST_RUNTIME_COLLECTIVES_STRANGERS_H
#define TESSERA_TEST_RUNTIME_COLLECTIVES_STRANGERS_H

#include "runtime/collectives/process/Handshake.h"
#include "runtime/support/Status.h"
#include "test/Runtime/collectives/CommunicatorWorld.h"

#include <mutex>
#include <string>
#include <vector>

namespace fixture {

/// Returns a deadline that is late enough on a busy machine: nothing takes so
/// long.
tessera::Deadline soon();

/// Collects what a process tells its operator, from any thread.
class Notes {
public:
  tessera::OperatorNote taker();
  std::string all() const;

private:
  mutable std::mutex mutex;
  std::string text;
};

/// Returns a connection that says `bytes` and nothing more.
tessera::Socket stranger(const std::string &at, const std::string &bytes);
/// Returns a connection that has introduced itself, with "" for no secret.
tessera::Socket acquaintance(const std::string &at, const std::string &secret);
/// Returns the bytes that a connection hears until it is closed.
std::string heardUntilClosed(const tessera::Socket &socket);
/// A message as it is sent.
std::string withLength(const std::string &message);
/// Returns a hello of a rank, and one with another value in a field.
std::string helloOf(int64_t rank, int64_t world);
std::string helloWith(const std::string &name, const nlohmann::json &value);

/// Joins, and returns the status that it ends with.
tessera::Status joinAs(const tessera::ProcessOptions &options,
                       const tessera::Agreement &agreement = {});
/// Lets all join at once, each with the rank in its options.
std::vector<tessera::Status>
joinAll(const std::vector<tessera::ProcessOptions> &options,
        const std::vector<tessera::Agreement> &agreements = {});

/// Calls `tries` with longer and longer times until it returns true, because
/// nobody knows how long a busy machine takes.
template <class Tries> void withEnoughTime(const Tries &tries) {
  for (int ms = 250; ms < 300000; ms *= 2)
    if (tries(std::chrono::milliseconds(ms)))
      return;
  ADD_FAILURE() << "no time was enough";
}

} // namespace fixture

#endif // TESSERA_TEST_RUNTIME_COLLECTIVES_STRANGERS_H
