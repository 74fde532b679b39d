//===- SpecialIds.h - special tokens as users write them --------*- C++ -*-===//
// It needs no MLIR.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_OPTIONS_SPECIALIDS_H
#define TESSERA_OPTIONS_SPECIALIDS_H

#include <algorithm>
#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace tessera {

/// Returns the ids of "0,2,3", in ascending order and each once, or no id of
/// "none". Returns null if the text is neither.
inline std::optional<std::vector<int64_t>>
parseSpecialIds(const std::string &text) {
  std::vector<int64_t> ids;
  if (text == "none")
    return ids;
  constexpr size_t mostDigits = 10;
  std::istringstream stream(text + ",");
  for (std::string part; std::getline(stream, part, ',');) {
    if (part.empty() || part.size() > mostDigits ||
        part.find_first_not_of("0123456789") != std::string::npos)
      return std::nullopt;
    ids.push_back(std::stoll(part));
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

} // namespace tessera

#endif // TESSERA_OPTIONS_SPECIALIDS_H
