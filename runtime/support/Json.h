//===- Json.h - JSON read with checks ---------------------------*- C++ -*-===//
// A view of a JSON value that knows its path: every wrong or missing value is a
// TSR_CORRUPT error that names the file, the path and what was expected.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_SUPPORT_JSON_H
#define TESSERA_RUNTIME_SUPPORT_JSON_H

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace tessera {

/// Empties a value from the inside, which JsonLimits keep from nesting deep.
/// The library's destructor of an array or object that is not empty takes
/// memory, and ends the process if there is none
/// (`json_value::destroy`).
void dismantle(nlohmann::json &value) noexcept;

/// A JSON value that takes no memory to destroy. It is filled in its place,
/// each container made empty by its type first: a temporary one that is filled
/// has the library's destructor, and null that turns into a container without
/// memory is left without what it says it has.
struct JsonTree {
  using Type = nlohmann::json::value_t;

  explicit JsonTree(Type type) : root(type) {}
  JsonTree(JsonTree &&) = default;
  ~JsonTree() { dismantle(root); }

  nlohmann::json root;
};

class JsonView {
public:
  JsonView(const nlohmann::json &value, std::string source)
      : value(&value), source(std::move(source)) {}

  /// Returns the member `key`; an error if it is missing or this is not an
  /// object.
  JsonView at(const char *key) const;
  bool has(const char *key) const;
  void requireObject() const;
  /// Returns the elements of an array.
  std::vector<JsonView> items() const;

  int64_t integer(int64_t low, int64_t high) const;
  double number() const;
  bool boolean() const;
  const std::string &text() const;
  std::vector<int64_t> integers(int64_t low, int64_t high) const;
  const nlohmann::json &raw() const { return *value; }

  /// Returns "`source`: '`path`'", for errors.
  std::string where() const;
  /// Throws "`source`: '`path`' `what`".
  [[noreturn]] void refuse(const std::string &what) const;

private:
  const nlohmann::json *value;
  std::string source;
  std::string path;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_SUPPORT_JSON_H
