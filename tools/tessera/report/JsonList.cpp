//===- JsonList.cpp - a long list of a JSON object, entry by entry --------===//

#include "tools/tessera/report/JsonList.h"
#include "llvm/ADT/Twine.h"

using namespace llvm;
using namespace tessera;

constexpr StringLiteral kSpace = " \t\r\n";

/// The position after the string that begins at `at`.
static size_t skipString(StringRef text, size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at)
    at += text[at] == '\\';
  return std::min(at + 1, text.size());
}

/// The position after the value that begins at `at`.
static size_t skipValue(StringRef text, size_t at) {
  int64_t depth = 0;
  while (at < text.size()) {
    char c = text[at];
    bool opens = c == '{' || c == '[', closes = c == '}' || c == ']';
    if (depth == 0 && (closes || c == ','))
      return at; // after a number or word
    at = c == '"' ? skipString(text, at) : at + 1;
    depth += opens - closes;
    if (depth == 0 && (closes || c == '"'))
      return at;
  }
  return at;
}

/// Where the value of that key begins, in the outermost object, or npos.
static size_t findValue(StringRef object, StringRef name) {
  size_t at = object.find('{');
  while (at < object.size()) {
    size_t key = object.find_first_not_of(kSpace, at + 1);
    if (key == StringRef::npos || object[key] != '"')
      return StringRef::npos;
    size_t after = skipString(object, key);
    size_t colon = object.find_first_not_of(kSpace, after);
    if (colon == StringRef::npos || object[colon] != ':')
      return StringRef::npos;
    size_t value = object.find_first_not_of(kSpace, colon + 1);
    if (object.slice(key + 1, after - 1) == name)
      return value;
    at = object.find_first_not_of(kSpace, skipValue(object, value));
    if (at != StringRef::npos && object[at] != ',')
      return StringRef::npos;
  }
  return StringRef::npos;
}

JsonList tessera::takeList(StringRef object, StringRef name) {
  size_t begin = findValue(object, name);
  if (begin == StringRef::npos || object[begin] != '[')
    return {{}, object.str()};
  JsonList list;
  size_t at = object.find_first_not_of(kSpace, begin + 1);
  while (at < object.size() && object[at] != ']') {
    size_t end = skipValue(object, at);
    list.entries.push_back(object.slice(at, end));
    size_t comma = object.find_first_not_of(kSpace, end);
    bool goesOn = comma != StringRef::npos && object[comma] == ',';
    at = goesOn ? object.find_first_not_of(kSpace, comma + 1) : comma;
    if (!goesOn && comma != StringRef::npos && object[comma] != ']')
      return {{}, object.str()}; // the parser tells what is wrong
  }
  list.rest = (Twine(object.take_front(begin)) + "[" + object.substr(at)).str();
  return list;
}
