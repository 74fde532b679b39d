//===- DataWeights.cpp - FILE:WEIGHT on the command line ------------------===//

#include "tools/tessera/options/DataWeights.h"
#include <charconv>
#include <cmath>
#include <filesystem>
#include <optional>

using namespace tessera;

/// Takes the weight off one name.
static std::optional<double> takeWeight(std::string &name) {
  size_t colon = name.rfind(':');
  std::error_code error;
  if (colon == std::string::npos || colon == 0 ||
      std::filesystem::exists(name, error))
    return std::nullopt;
  const char *begin = name.data() + colon + 1, *end = name.data() + name.size();
  double weight = 0;
  std::from_chars_result read = std::from_chars(begin, end, weight);
  if (read.ptr != end || begin == end)
    return std::nullopt;
  if (read.ec == std::errc::result_out_of_range)
    weight = INFINITY;
  name.resize(colon);
  return weight;
}

std::string tessera::takeWeights(std::vector<std::string> &names,
                                 std::vector<double> &weights) {
  weights.clear();
  std::string weighted, unweighted;
  for (std::string &name : names) {
    std::optional<double> weight = takeWeight(name);
    (weight ? weighted : unweighted) = name;
    if (weight)
      weights.push_back(*weight);
  }
  if (weights.empty() || weights.size() == names.size())
    return "";
  return "--data: '" + weighted + "' has a weight, '" + unweighted +
         "' has none; give each file one, as FILE:WEIGHT, or none";
}
