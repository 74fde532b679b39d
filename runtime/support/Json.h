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

/// Parses `text`; `source` names it in errors.
nlohmann::json parseJson(const std::string &source, const char *begin,
                         const char *end);

class JsonView {
public:
  JsonView(const nlohmann::json &value, std::string source)
      : value(&value), source(std::move(source)) {}

  /// The member `key`; an error if it is missing or this is not an object.
  JsonView at(const char *key) const;
  bool has(const char *key) const;
  /// The elements of an array.
  std::vector<JsonView> items() const;

  int64_t integer(int64_t low, int64_t high) const;
  double number() const;
  const std::string &text() const;
  std::vector<int64_t> integers(int64_t low, int64_t high) const;
  const nlohmann::json &raw() const { return *value; }

  /// Throws "`source`: '`path`' `what`".
  [[noreturn]] void refuse(const std::string &what) const;

private:
  const nlohmann::json *value;
  std::string source;
  std::string path;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_SUPPORT_JSON_H
