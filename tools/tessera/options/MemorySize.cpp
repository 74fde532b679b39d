//===- MemorySize.cpp - sizes as people write them ------------------------===//

#include "tools/tessera/options/MemorySize.h"
#include <cstdlib>
#include <cstring>

using namespace tessera;

std::optional<int64_t> tessera::parseBytes(const std::string &text) {
  constexpr struct {
    const char *suffix;
    double bytes;
  } units[] = {{"", 1},         {"B", 1},        {"KiB", 0x1p10},
               {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}};
  char *end = nullptr;
  double number = std::strtod(text.c_str(), &end);
  if (end == text.c_str())
    return std::nullopt;
  while (*end == ' ')
    ++end;
  for (const auto &unit : units) {
    double bytes = number * unit.bytes;
    // Also false for what is not a number.
    if (std::strcmp(end, unit.suffix) == 0 && bytes >= 1 && bytes < 0x1p62)
      return static_cast<int64_t>(bytes);
  }
  return std::nullopt;
}
