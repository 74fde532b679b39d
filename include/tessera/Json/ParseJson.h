//===- ParseJson.h - JSON from outside as values ----------------*- C++ -*-===//
// All JSON that the compiler and its tools did not build themselves is parsed
// here, by nlohmann's parser: LLVM's own makes other characters of escapes
// beyond U+1FFFF, and calls itself for each bracket. Lint refuses other calls.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_JSON_PARSEJSON_H
#define TESSERA_JSON_PARSEJSON_H

#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <string>

namespace tessera {

/// At most so many arrays and objects may be open at once.
constexpr size_t kMostJsonDepth = 64;

/// Says what is wrong with a text, and where.
class JsonError : public llvm::ErrorInfo<JsonError> {
public:
  static char ID;

  JsonError(std::string what, unsigned line, unsigned column)
      : what(std::move(what)), line(line), column(column) {}

  /// "line 3, column 7: what".
  void log(llvm::raw_ostream &out) const override;
  std::error_code convertToErrorCode() const override;

  std::string what;
  unsigned line, column; ///< From 1; columns count bytes.
};

/// Returns the value of a text in UTF-8, with or without a byte order mark. The
/// rules are:
/// * A pair of surrogates in escapes is one character. A lone surrogate is an
///   error, as is a byte that is no UTF-8: no text could hold it.
/// * Of a key that comes twice the last value counts, as in Python.
/// * An integer is exact if it fits into int64_t or uint64_t, else it is the
///   nearest double. One beyond all doubles is an error, as are NaN and
///   Infinity, which Python writes although JSON does not have them.
/// * Deeper nesting than kMostJsonDepth is an error.
llvm::Expected<llvm::json::Value> parseJson(llvm::StringRef text);

/// Returns what parseJson found wrong with a text that is one line of a file,
/// as "column 7: what".
std::string reasonInLine(llvm::Error error);

} // namespace tessera

#endif // TESSERA_JSON_PARSEJSON_H
