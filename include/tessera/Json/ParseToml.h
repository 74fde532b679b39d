//===- ParseToml.h - TOML from outside as tables ----------------*- C++ -*-===//
// All TOML is parsed here, by toml++, within limits. Lint refuses other calls,
// and that another file includes the library, which must be configured alike
// everywhere.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_JSON_PARSETOML_H
#define TESSERA_JSON_PARSETOML_H

#include "llvm/Support/Error.h"

#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#define TOML_MAX_NESTED_VALUES 16
// With NDEBUG, TOML_ASSERT would make promises to the compiler. toml++ 3.3
// breaks one, in parse_key() after "[{", and has a proper error right behind
// it.
#pragma push_macro("NDEBUG")
#undef NDEBUG
#define TOML_ASSERT(condition) static_cast<void>(0)
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

namespace tessera {

/// Returns the tables of a file. An error begins with the file's name and the
/// line: "a.toml:3: ..". Beyond these limits the library would call itself
/// without end or take memory without measure:
/// * The bytes of a file.
constexpr size_t kMostTomlBytes = 4 << 20;
/// * The dots between names in a line, and so tables in each other by one key.
constexpr size_t kMostTomlDots = 32;
/// * The arrays and inline tables in each other, TOML_MAX_NESTED_VALUES.
/// Texts of several lines, and letters beyond ASCII outside of comments, are
/// refused: toml++ 3.3 has undefined behavior for them. TOML itself makes a key
/// that comes twice an error.
llvm::Expected<toml::table> readToml(const std::string &path);

} // namespace tessera

#endif // TESSERA_JSON_PARSETOML_H
