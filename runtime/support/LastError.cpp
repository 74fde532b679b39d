//===- LastError.cpp - the last error of a thread -------------------------===//
// Kept by the runtime for the libraries beside it, too.
//===----------------------------------------------------------------------===//
#include "runtime/support/Status.h"

#include <cstring>
#include <string_view>

namespace tessera {

// It needs no memory: there may be none left.
static thread_local char lastError[8192];

} // namespace tessera

tsr_status tsr_set_last_error(tsr_status status, const char *message) {
  using tessera::lastError;
  char printed[sizeof lastError]; // `message` may be the last error itself
  size_t length = 0;
  tessera::detail::putMessage(message, [&](std::string_view part) {
    part = part.substr(0, sizeof printed - 1 - length);
    std::memcpy(printed + length, part.data(), part.size());
    length += part.size();
  });
  std::memcpy(lastError, printed, length);
  lastError[length] = '\0';
  return status;
}

const char *tsr_last_error(void) { return tessera::lastError; }

const char *tsr_version(void) { return TESSERA_VERSION; }

const char *tsr_status_name(tsr_status status) {
  switch (status) {
  case TSR_OK:
    return "ok";
  case TSR_INVALID_ARGUMENT:
    return "invalid argument";
  case TSR_NOT_FOUND:
    return "not found";
  case TSR_CORRUPT:
    return "corrupt";
  case TSR_MISMATCH:
    return "mismatch";
  case TSR_IO:
    return "input/output";
  case TSR_OUT_OF_MEMORY:
    return "out of memory";
  case TSR_TIMEOUT:
    return "timeout";
  case TSR_ABORTED:
    return "aborted";
  case TSR_UNSUPPORTED:
    return "unsupported";
  case TSR_INTERNAL:
    return "internal";
  case TSR_UNTRUSTED:
    return "untrusted";
  }
  return "unknown status";
}
