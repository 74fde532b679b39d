#include "runtime/support/Status.h"

namespace tessera {

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
  return status.ok() ? TSR_OK
                     : tsr_set_last_error(status.code, status.message.c_str());
}

} // namespace tessera
