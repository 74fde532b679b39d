//===- JsonValues.cpp - JSON cut into its values --------------------------===//

#include "tools/tessera/tokenize/JsonValues.h"
#include "tessera/Json/ParseJson.h"

using namespace tessera;
using llvm::StringRef;

/// A longer value is refused when it is parsed.
static constexpr size_t kMostBytesOfValue = json_kinds::document.bytes;

static bool isSpace(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

std::string JsonValues::wrong(int64_t where, const std::string &what) const {
  return "line " + std::to_string(where) + " of " + name +
         " is not JSON: " + what;
}

std::string JsonValues::unexpected(char c) const {
  return wrong(line, "'" + std::string(1, c) + "' between values");
}

/// Takes a character that is in no value, or begins one.
std::string JsonValues::addOutside(char c) {
  if (isSpace(c))
    return "";
  if (place == Place::Ended)
    return unexpected(c);
  if (place == Place::Start && c == '[') {
    isArray = true;
    place = Place::Element;
    return "";
  }
  bool endsArray = c == ']' && isArray && (place == Place::After || mayEnd);
  if (endsArray) {
    place = Place::Ended;
    return "";
  }
  if (place == Place::After) {
    if (c != ',')
      return unexpected(c);
    place = Place::Element;
    return "";
  }
  if (c == ',' || c == ']' || c == '}' || c == ':')
    return unexpected(c);
  value.assign(1, c);
  firstLine = line;
  mayEnd = false;
  isString = c == '"';
  depth = c == '{' || c == '[';
  place = isString || depth ? Place::Nested : Place::Plain;
  return "";
}

bool JsonValues::isDone(char c) {
  if (isString) {
    if (isEscaped || c == '\\')
      isEscaped = !isEscaped;
    else
      isString = c != '"';
    return !isString && depth == 0;
  }
  isString = c == '"';
  depth += (c == '{' || c == '[') - (c == '}' || c == ']');
  return depth == 0 && !isString;
}

std::string JsonValues::give(Visitor visit) {
  place = isArray ? Place::After : Place::Between;
  return visit(value, firstLine);
}

std::string JsonValues::add(StringRef block, Visitor visit) {
  for (char c : block) {
    std::string why;
    bool isMore = place == Place::Plain && !isSpace(c) && c != ',' && c != ']';
    if ((isMore || place == Place::Nested) && value.size() == kMostBytesOfValue)
      return wrong(firstLine, "the value that begins here has more than " +
                                  std::to_string(kMostBytesOfValue) + " bytes");
    if (place == Place::Nested) {
      value += c;
      if (isDone(c))
        why = give(visit);
    } else if (isMore) {
      value += c;
    } else {
      if (place == Place::Plain)
        why = give(visit);
      if (why.empty())
        why = addOutside(c);
    }
    if (!why.empty())
      return why;
    line += c == '\n';
  }
  return "";
}

std::string JsonValues::finish(Visitor visit) {
  if (place == Place::Plain)
    if (std::string why = give(visit); !why.empty())
      return why;
  if (place == Place::Nested)
    return wrong(firstLine, "the value that begins here does not end");
  if (place == Place::Element || place == Place::After)
    return wrong(line, "the file ends, but its array does not");
  return "";
}
