#include "runtime/support/Status.h"

namespace tessera {

// Of this thread. It needs no memory: there may be none left.
static thread_local char lastError[8192];

static Status describeException() {
  try {
    throw;
  } catch (const Error &error) {
    return error.status;
  } catch (const std::bad_alloc &) {
    return {TSR_OUT_OF_MEMORY, "out of memory"};
  } catch (const std::exception &error) {
    return {TSR_INTERNAL, concat("internal error: ", error.what())};
  } catch (...) {
    return {TSR_INTERNAL, "internal error: unknown exception"};
  }
}

Status currentStatus() noexcept {
  try {
    return describeException();
  } catch (...) { // no memory for the message; this one is kept in the object
    return {TSR_OUT_OF_MEMORY, "out of memory"};
  }
}

tsr_status report(const Status &status) noexcept {
  if (status.ok())
    return TSR_OK;
  size_t length = status.message.copy(lastError, sizeof lastError - 1);
  lastError[length] = '\0';
  return status.code;
}

} // namespace tessera

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
