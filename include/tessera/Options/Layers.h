//===- Layers.h - ranges of layers as users write them ----------*- C++ -*-===//
// It needs no MLIR.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_OPTIONS_LAYERS_H
#define TESSERA_OPTIONS_LAYERS_H

#include <algorithm>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

namespace tessera {

/// Layers `first` to `last`, numbered from 0 in the order of the program.
struct Layers {
  int64_t first = 0, last = 0;

  /// Returns "3" or "0-3".
  std::string layers() const;
};

/// Reads "3" or "0-3". Returns what is wrong, or "". `flag` is named in errors,
/// and `example` says what to write: "0-3=full for the first four, or 5=none".
/// `whole` is what the user wrote.
std::string readLayers(const std::string &flag, const std::string &text,
                       const std::string &whole, const std::string &example,
                       Layers &layers);
/// Returns what is wrong with two ranges, the first of which begins earlier, or
/// "".
std::string checkDisjoint(const std::string &flag, const Layers &earlier,
                          const Layers &later);

/// Replaces `ranges` by those between the commas of `text`, in ascending order.
/// read(part, range) and this return what is wrong, or "".
template <typename Range, typename Read>
std::string readRanges(const std::string &flag, const std::string &text,
                       std::vector<Range> &ranges, Read read) {
  ranges.clear();
  std::istringstream stream(text.empty() ? text : text + ",");
  for (std::string part; std::getline(stream, part, ',');) {
    ranges.emplace_back();
    if (std::string why = read(part, ranges.back()); !why.empty())
      return why;
  }
  std::sort(ranges.begin(), ranges.end(),
            [](const Layers &a, const Layers &b) { return a.first < b.first; });
  for (size_t i = 1; i < ranges.size(); ++i)
    if (std::string why = checkDisjoint(flag, ranges[i - 1], ranges[i]);
        !why.empty())
      return why;
  return "";
}

/// Ranges in ascending order, none of which overlap.
struct LayerList {
  std::vector<Layers> ranges;

  /// Replaces the ranges by those of "0-3,7". Returns what is wrong, or "".
  std::string parse(const std::string &flag, const std::string &text);
  /// Returns the text that parse takes; "" without ranges.
  std::string str() const;
};

} // namespace tessera

#endif // TESSERA_OPTIONS_LAYERS_H
