//===- Names.h - the names of an enum's values ------------------*- C++ -*-===//
// Each enum that people or files spell has one table, Names<Enum>::table, from
// which it is parsed, printed and listed. It needs no MLIR.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_OPTIONS_NAMES_H
#define TESSERA_OPTIONS_NAMES_H

#include <iterator>
#include <optional>
#include <string>

namespace tessera {

template <typename Enum> struct Name {
  Enum value;
  const char *name;
};

/// Specialised next to each enum, with a member `table`.
template <typename Enum> struct Names;

template <typename Enum> constexpr const char *nameOf(Enum value) {
  for (const Name<Enum> &row : Names<Enum>::table)
    if (row.value == value)
      return row.name;
  return "";
}

template <typename Enum> std::optional<Enum> fromName(const std::string &name) {
  for (const Name<Enum> &row : Names<Enum>::table)
    if (name == row.name)
      return row.value;
  return std::nullopt;
}

/// Returns "f32, bf16 or f64"; with quotes "'f32', 'bf16' or 'f64'".
template <typename Enum>
std::string listNames(const char *last = "or", const char *quote = "") {
  std::string text;
  const auto &table = Names<Enum>::table;
  for (const Name<Enum> &row : table) {
    bool isLast = &row + 1 == std::end(table);
    text += text.empty() ? "" : isLast ? " " + std::string(last) + " " : ", ";
    text += quote + std::string(row.name) + quote;
  }
  return text;
}

} // namespace tessera

#endif // TESSERA_OPTIONS_NAMES_H
