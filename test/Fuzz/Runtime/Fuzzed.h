//===- Fuzzed.h - what may become of bytes in the runtime -------*- C++ -*-===//
#ifndef TESSERA_TEST_FUZZ_RUNTIME_FUZZED_H
#define TESSERA_TEST_FUZZ_RUNTIME_FUZZED_H

#include "runtime/collectives/process/Socket.h"
#include "runtime/support/Status.h"
#include "test/Fuzz/Input.h"

namespace fuzzed {

/// The private key of the first example in RFC 8032, section 7.1.
constexpr const char *publishedKey =
    "-----BEGIN PRIVATE KEY-----\n"
    "MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n"
    "-----END PRIVATE KEY-----\n";

/// Returns whether `parse` takes its input; if not, the refusal says why.
template <class Parse> bool accepts(const Parse &parse) {
  try {
    parse();
    return true;
  } catch (const tessera::Error &error) {
    require(error.status.code != TSR_OK, "an error has a code");
    require(!error.status.message.empty(), "an error says why");
    return false;
  }
}

/// A connection whose other side sends these bytes, as many as fit into its
/// buffer, and then no more. It can still receive.
class Sent {
public:
  explicit Sent(std::string_view bytes);

  const tessera::Socket &socket() const { return own; }
  const tessera::Socket &sender() const { return other; }

private:
  tessera::Socket own, other;
};

} // namespace fuzzed

#endif // TESSERA_TEST_FUZZ_RUNTIME_FUZZED_H
