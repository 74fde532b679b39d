//===- JsonLimits.h - JSON of strangers, read within limits -----*- C++ -*-===//
// Text that arrives over a connection, or lies in a file that anybody may have
// written, is refused before it costs more than it may: `Json.h` then checks
// what it says.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_SUPPORT_JSONLIMITS_H
#define TESSERA_RUNTIME_SUPPORT_JSONLIMITS_H

#include "runtime/support/Json.h"

namespace tessera {

/// What a key means that comes twice in an object.
enum class RepeatedKey { LastCounts, Refused };

struct JsonLimits {
  size_t bytes;  ///< of the text
  int depth;     ///< of arrays and objects in each other; 0: a plain value
  size_t values; ///< of any kind, keys among them
  RepeatedKey repeated = RepeatedKey::LastCounts;
};

/// As parseJson without limits; TSR_CORRUPT names the limit that is exceeded.
JsonTree parseJson(const std::string &source, const char *begin,
                   const char *end, const JsonLimits &limits);

/// On one line, in ASCII; what is no UTF-8 is replaced.
std::string writeJson(const nlohmann::json &value);

} // namespace tessera

#endif // TESSERA_RUNTIME_SUPPORT_JSONLIMITS_H
