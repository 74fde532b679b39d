//===- json_limits.hpp - how much JSON from outside may hold ----*- C++ -*-===//
// json_reader.hpp reads within these limits; docs/Limits.md describes them.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_JSON_LIMITS_HPP
#define TESSERA_JSON_LIMITS_HPP

#include <cstddef>

namespace tessera {

/// The most that a text may hold. A text beyond a limit is refused where it
/// passes the limit, before the rest becomes values.
struct JsonLimits {
  std::size_t bytes;
  std::size_t depth;  ///< Arrays and objects in each other; 0: a plain value.
  std::size_t values; ///< Values of any kind, keys among them.
  const char *what = "such a text"; ///< Errors name the kind of text by it.
  std::size_t string = 64 << 20; ///< Bytes of a string, or of blanks in a row.
};

/// The limits of each kind of text, such as json_kinds::config.
namespace json_kinds {
#define TSR_JSON_KIND(NAME, BYTES, DEPTH, VALUES, STRING, WHAT)                \
  inline constexpr JsonLimits NAME = {BYTES, DEPTH, VALUES, WHAT, STRING};
#include "tessera/json_kinds.def"
#undef TSR_JSON_KIND
} // namespace json_kinds

} // namespace tessera

#endif // TESSERA_JSON_LIMITS_HPP
