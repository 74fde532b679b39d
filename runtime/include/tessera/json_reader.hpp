//===- json_reader.hpp - JSON from outside, read within limits --*- C++ -*-===//
// All JSON that Tessera reads passes here, whatever becomes of it. Header only,
// C++17; needs nlohmann/json, whose parser calls no function from within itself
// and has no limits of its own. docs/Limits.md lists the limits by kind of
// text.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_JSON_READER_HPP
#define TESSERA_JSON_READER_HPP

#include "tessera/json_limits.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera {

/// Says what is wrong with a text, and where: lines and columns count from 1,
/// columns in bytes.
struct JsonProblem {
  std::string what;
  std::size_t line, column;
  bool isSyntax; ///< The text is no JSON; else it passes a limit.

  /// Returns "line 3, column 7: what".
  std::string text() const {
    return "line " + std::to_string(line) + ", column " +
           std::to_string(column) + ": " + what;
  }
};

namespace json_detail {

constexpr std::size_t kMostDigits = 1000; ///< A number has at most so many.
constexpr std::size_t kShownKey = 100;    ///< An error shows so many bytes.

/// A text and the position of the parser in it. The parser may go on to `stop`,
/// which is the end, or the byte that makes a string too long.
struct Place {
  const char *begin, *at, *stop, *end;
};

/// Tells the filter where the parser is: each copy moves the one place.
class Cursor {
public:
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char *;
  using reference = const char &;
  using iterator_category = std::forward_iterator_tag;

  explicit Cursor(Place &place) : place(&place) {}
  reference operator*() const { return *place->at; }
  Cursor &operator++() {
    ++place->at;
    return *this;
  }
  /// Every other cursor is the end.
  bool operator!=(const Cursor &) const { return place->at != place->stop; }
  bool operator==(const Cursor &) const { return place->at == place->stop; }

private:
  Place *place;
};

/// Passes what the parser finds on to a builder, within limits.
template <class Builder> class Filter {
  using Json = nlohmann::json;

public:
  Filter(Place &place, const JsonLimits &limits, Builder &builder)
      : place(place), limits(limits), builder(builder) {
    goOn();
  }

  bool null() { return put(nullptr); }
  bool boolean(bool value) { return put(value); }
  bool number_integer(std::int64_t value) { return put(value); }
  bool number_unsigned(std::uint64_t value) { return put(value); }
  bool number_float(double value, const std::string &digits) {
    if (digits.size() > kMostDigits)
      return refuse("a number has " + std::to_string(digits.size()) +
                    " characters; at most " + std::to_string(kMostDigits) +
                    " are read");
    return put(value);
  }
  bool string(std::string &value) { return put(std::move(value)); }
  bool binary(Json::binary_t &) { return false; } // not in texts
  bool start_object(std::size_t) {
    if (!opens(Builder::kValuesOfObject))
      return false;
    builder.openObject();
    return true;
  }
  bool start_array(std::size_t) {
    if (!opens(1))
      return false;
    builder.openArray();
    return true;
  }
  bool end_object() { return closes(); }
  bool end_array() { return closes(); }
  bool key(std::string &name) {
    if (!counts(1))
      return false;
    std::string shown = name.substr(0, kShownKey);
    return builder.addKey(std::move(name)) ||
           refuse("the key '" + shown +
                  "' comes twice in an object; remove one of the two");
  }
  bool parse_error(std::size_t position, const std::string &,
                   const Json::exception &error) {
    if (isCut())
      return refuseCut();
    // The position counts the character that is wrong.
    problem = {reasonAt(position - (position > 0), error.what()),
               position - (position > 0), true};
    return false;
  }

  /// The parser has taken a value and the end. More text may be behind it.
  void finish() {
    if (!problem && isCut())
      refuseCut();
  }

  struct Problem {
    std::string what;
    std::size_t offset;
    bool isSyntax;
  };
  std::optional<Problem> problem;

private:
  /// A string may begin here. The parser stops behind one that is too long.
  void goOn() {
    auto left = static_cast<std::size_t>(place.end - place.at);
    place.stop = place.at + (left <= limits.string ? left : limits.string + 1);
  }
  /// Returns whether the parser has stopped at a cut that it took for the end.
  bool isCut() const { return place.at == place.stop && place.at != place.end; }
  bool refuseCut() {
    return refuse("a string, or the blanks before a value, have more than " +
                  std::to_string(limits.string) + " bytes");
  }
  /// Refuses the text at the newest character that the parser has read.
  bool refuse(std::string what) {
    auto read = static_cast<std::size_t>(place.at - place.begin);
    problem = {std::move(what), read - (read > 0), false};
    return false;
  }
  bool counts(std::size_t more) {
    if (isCut())
      return refuseCut();
    goOn();
    if (more > limits.values - values)
      return refuse("there are more than " + std::to_string(limits.values) +
                    " values, which is the most that " + limits.what +
                    " may have");
    values += more;
    return true;
  }
  template <class T> bool put(T value) {
    if (!counts(1))
      return false;
    builder.put(std::move(value));
    return true;
  }
  bool opens(std::size_t cost) {
    if (depth == limits.depth)
      return refuse(
          "arrays and objects nest more than " + std::to_string(limits.depth) +
          " deep, which is the most that " + limits.what + " may have");
    ++depth;
    return counts(cost);
  }
  bool closes() {
    if (isCut())
      return refuseCut();
    goOn();
    --depth;
    values -= builder.close();
    return true;
  }
  /// The library's message reads "[..] parse error at line 1, column 2: syntax
  /// error while parsing value - what; last read: '..'; expected ..".
  std::string reasonAt(std::size_t offset, std::string_view message) const {
    auto size = static_cast<std::size_t>(place.end - place.begin);
    std::string_view rest(place.begin, size);
    rest.remove_prefix(std::min(offset, size));
    for (std::string_view name : {"NaN", "Infinity"})
      if (rest.substr(0, name.size()) == name)
        return std::string(name) + " is not JSON; write null or a number";
    if (message.find("number overflow") != message.npos)
      return "the number is beyond all doubles";
    if (std::size_t reason = message.find(" - "); reason != message.npos)
      message.remove_prefix(reason + 3);
    return std::string(message.substr(0, message.find("; last read: ")));
  }

  Place &place;
  const JsonLimits &limits;
  Builder &builder;
  std::size_t depth = 0, values = 0;
};

/// Names what begins like another encoding, which would only be "invalid".
inline const char *otherEncoding(std::string_view text) {
  const std::string_view start = text.substr(0, 2);
  if (start == "\xff\xfe" || start == "\xfe\xff")
    return "the text is UTF-16; save it as UTF-8";
  if (start.size() == 2 && (start[0] == '\0' || start[1] == '\0'))
    return "the text is UTF-16 or UTF-32, or binary; save it as UTF-8";
  return nullptr;
}

inline JsonProblem problemAt(std::string_view text, std::size_t offset,
                             std::string what, bool isSyntax) {
  std::string_view before = text.substr(0, offset);
  auto lines = std::count(before.begin(), before.end(), '\n');
  std::size_t newline = before.rfind('\n');
  std::size_t column = newline == before.npos ? offset : offset - newline - 1;
  return {std::move(what), static_cast<std::size_t>(lines) + 1, column + 1,
          isSyntax};
}

} // namespace json_detail

/// Reads a text in UTF-8, with or without a byte order mark, into a builder.
/// Returns what is wrong, or nothing. The rules are:
/// * A pair of surrogates in escapes is one character. A lone surrogate is an
///   error, as is a byte that is no UTF-8: no text could hold it.
/// * A key that comes twice in an object is an error: readers differ in which
///   of the two counts.
/// * An integer is exact if it fits into int64_t or uint64_t, else it is the
///   nearest double. One beyond all doubles is an error, as are NaN and
///   Infinity, which Python writes although JSON does not have them.
/// * Text behind the value, a byte of 0 and what passes `limits` are errors.
///
/// A builder has put(value) of each type, openObject(), openArray(), close(),
/// which returns how many values it no longer keeps, addKey(name), which
/// returns false if the object has the key, and kValuesOfObject, the number of
/// values that an object counts as.
template <class Builder>
std::optional<JsonProblem>
readJson(std::string_view text, const JsonLimits &limits, Builder &builder) {
  using namespace json_detail;
  if (text.size() > limits.bytes)
    return JsonProblem{"the text has " + std::to_string(text.size()) +
                           " bytes; " + limits.what + " has at most " +
                           std::to_string(limits.bytes),
                       1, 1, false};
  if (const char *what = otherEncoding(text))
    return JsonProblem{what, 1, 1, true};
  // The parser takes it for the end, and would not look at what follows.
  if (std::size_t zero = text.find('\0'); zero != text.npos)
    return problemAt(text, zero, "a byte of 0 is not JSON", true);
  const char *begin = text.data();
  Place place = {begin, begin, begin, begin + text.size()};
  Filter<Builder> filter(place, limits, builder);
  nlohmann::json::sax_parse(Cursor(place), Cursor(place), &filter);
  filter.finish();
  if (!filter.problem)
    return std::nullopt;
  return problemAt(text, filter.problem->offset,
                   std::move(filter.problem->what), filter.problem->isSyntax);
}

/// Builds a value of nlohmann's library in its place. (The library's own
/// builder has no limits, and returns a value that it may have to destroy.)
class JsonTreeBuilder {
  using Json = nlohmann::json;

public:
  /// An empty one takes 80 bytes, a number 16.
  static constexpr std::size_t kValuesOfObject = 4;

  explicit JsonTreeBuilder(Json &root) : root(root) {}

  void put(Json value) { place() = std::move(value); }
  void openObject() { open(Json::value_t::object); }
  void openArray() { open(Json::value_t::array); }
  std::size_t close() {
    containers.pop_back();
    return 0;
  }
  bool addKey(std::string &&name) {
    Json &object = *containers.back();
    if (object.contains(name))
      return false;
    member = &object[std::move(name)];
    return true;
  }

private:
  /// Returns where the next value belongs.
  Json &place() {
    if (containers.empty())
      return root;
    return containers.back()->is_array() ? containers.back()->emplace_back()
                                         : *member;
  }
  void open(Json::value_t type) {
    Json &container = place();
    container = Json(type);
    containers.push_back(&container);
  }

  Json &root;
  std::vector<Json *> containers; ///< The open ones, the innermost last.
  Json *member = nullptr;         ///< The newest of the innermost object.
};

} // namespace tessera

#endif // TESSERA_JSON_READER_HPP
