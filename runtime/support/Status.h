//===- Status.h - errors inside the runtime ---------------------*- C++ -*-===//
// Inside, failures are thrown as Error (or returned as Status where generated
// code or another thread is above). `guarded` turns them into a code at the C
// boundary, so that nothing crosses it.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_SUPPORT_STATUS_H
#define TESSERA_RUNTIME_SUPPORT_STATUS_H

#include "tessera/printable.hpp"
#include "tessera/tessera.h"

#include <exception>
#include <locale>
#include <new>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace tessera {

struct [[nodiscard]] Status {
  tsr_status code = TSR_OK;
  std::string message;

  bool ok() const { return code == TSR_OK; }
};

class Error : public std::exception {
public:
  explicit Error(Status status) : status(std::move(status)) {}
  const char *what() const noexcept override { return status.message.c_str(); }

  Status status;
};

/// Writes a part. A text after a quotation mark is a value, often of a file: a
/// message has its beginning (kLongestValue).
template <class Part>
void appendPart(std::ostream &stream, bool &isQuoted, const Part &part) {
  if constexpr (std::is_convertible_v<Part, std::string_view>) {
    const std::string_view text = part;
    if (isQuoted && text.size() > kLongestValue)
      stream << printableValue(text);
    else
      stream << text;
    isQuoted = !text.empty() && text.back() == '\'';
  } else {
    stream << part;
    isQuoted = false;
  }
}

/// Returns the parts written one after the other, independent of the user's
/// locale.
template <class... Parts> std::string concat(const Parts &...parts) {
  std::ostringstream stream;
  stream.exceptions(std::ios::badbit); // else want of memory cuts the text
  stream.imbue(std::locale::classic());
  bool isQuoted = false;
  (appendPart(stream, isQuoted, parts), ...);
  return stream.str();
}

template <class... Parts>
[[noreturn]] void fail(tsr_status code, const Parts &...parts) {
  throw Error(Status{code, concat(parts...)});
}

/// Returns a status with the message of `describe()`, if there is memory for
/// it.
template <class Describe>
Status describedAs(tsr_status code, const Describe &describe) noexcept {
  try {
    return {code, describe()};
  } catch (...) { // short enough to be kept in the object
    return {code, "out of memory"};
  }
}

/// Returns a copy; without the message if there is no memory for it.
inline Status copyOf(const Status &status) noexcept {
  return status.ok() ? Status()
                     : describedAs(status.code, [&] { return status.message; });
}

/// Returns the exception being handled as a status. Only inside a catch block.
Status currentStatus() noexcept;

/// Records `status` as this thread's last error if it is one.
tsr_status report(const Status &status) noexcept;

/// Runs `body` at the C boundary: no exception leaves it.
template <class Body> tsr_status guarded(Body &&body) noexcept {
  try {
    body();
    return TSR_OK;
  } catch (...) {
    return report(currentStatus());
  }
}

} // namespace tessera

#endif // TESSERA_RUNTIME_SUPPORT_STATUS_H
