//===- ParseJson.h - JSON from outside as values ----------------*- C++ -*-===//
// All JSON that the compiler and its tools did not build themselves is parsed
// here, by the rules and within the limits of json_reader.hpp: LLVM's own
// parser makes other characters of escapes beyond U+1FFFF, and calls itself for
// each bracket. Lint refuses other calls.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_JSON_PARSEJSON_H
#define TESSERA_JSON_PARSEJSON_H

#include "tessera/json_limits.hpp"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <functional>
#include <string>

namespace tessera {

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

/// Returns the value of a text by the rules of readJson. An object counts as
/// several values, as llvm::json::Object is a hash table of some kilobytes.
llvm::Expected<llvm::json::Value> parseJson(llvm::StringRef text,
                                            const JsonLimits &limits);

/// Lists whose entries are passed on one by one and not kept. A list of a
/// hundred thousand objects would take gigabytes.
struct JsonEntries {
  llvm::StringRef key; ///< Each list that is a member of this name.
  /// Takes an entry. `depth` is 1 for a list of the outermost object. An error
  /// is the result of parseJson, unless the text turns out to be no JSON.
  std::function<llvm::Error(size_t depth, llvm::json::Value entry)> take;
};

/// Returns the value of a text, in which these lists are empty. Only the values
/// of one entry at a time count towards the limits.
llvm::Expected<llvm::json::Value> parseJson(llvm::StringRef text,
                                            const JsonLimits &limits,
                                            const JsonEntries &entries);

/// Returns what parseJson found wrong with a text that is one line of a file,
/// as "column 7: what".
std::string reasonInLine(llvm::Error error);

} // namespace tessera

#endif // TESSERA_JSON_PARSEJSON_H
