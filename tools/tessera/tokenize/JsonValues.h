//===- JsonValues.h - JSON cut into its values ------------------*- C++ -*-===//
// Memory holds one value of a file, whatever its length: an element of the
// array that the file is, or one of the values that follow each other (JSON
// lines).
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_TESSERA_TOKENIZE_JSONVALUES_H
#define TESSERA_TOOLS_TESSERA_TOKENIZE_JSONVALUES_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>

namespace tessera {

class JsonValues {
public:
  /// `name` is the file's, for errors.
  explicit JsonValues(std::string name) : name(std::move(name)) {}

  /// Gets the text of a value, not yet parsed, and the line where it begins.
  /// Returns what is wrong, or "".
  using Visitor =
      llvm::function_ref<std::string(llvm::StringRef text, int64_t line)>;

  /// Takes more of the file. Returns what is wrong, or "".
  std::string add(llvm::StringRef block, Visitor visit);
  /// Says that the file has ended. Returns what is wrong, or "".
  std::string finish(Visitor visit);

private:
  enum class Place {
    Start,   ///< Before the first value.
    Between, ///< After a value that no array holds.
    Element, ///< An element of the array must begin here.
    After,   ///< After an element.
    Ended,   ///< After the array.
    Plain,   ///< In a number or a word.
    Nested,  ///< In an array, an object or a string.
  };

  std::string addOutside(char c);
  /// Takes a character of a nested value. Returns whether it is the last one.
  bool isDone(char c);
  std::string give(Visitor visit);
  std::string wrong(int64_t where, const std::string &what) const;
  std::string unexpected(char c) const;

  std::string name;
  Place place = Place::Start;
  bool isArray = false; ///< The whole file is one.
  bool mayEnd = true;   ///< An array may end where an element may begin.
  bool isString = false, isEscaped = false;
  int depth = 0;
  std::string value;
  int64_t line = 1, firstLine = 1;
};

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_TOKENIZE_JSONVALUES_H
