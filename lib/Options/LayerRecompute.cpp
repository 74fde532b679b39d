//===- LayerRecompute.cpp - ranges of layers as users write them ----------===//

#include "tessera/Options/LayerRecompute.h"
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <sstream>

using namespace tessera;

namespace {

/// A whole number, from 0 to more layers than any model has, that the whole
/// text is.
bool readLayer(const std::string &text, int64_t &layer) {
  constexpr int64_t most = 1000000;
  char *end = nullptr;
  errno = 0;
  layer = std::strtoll(text.c_str(), &end, 10);
  bool isDigit = !text.empty() && text.front() >= '0' && text.front() <= '9';
  return isDigit && !*end && !errno && layer <= most;
}

/// Of "0-3=full".
std::string readRange(const std::string &text, LayerRange &range) {
  size_t equals = text.find('=');
  std::string layers = text.substr(0, equals);
  size_t dash = layers.find('-');
  bool isRead = equals != std::string::npos &&
                readLayer(layers.substr(0, dash), range.first);
  range.last = range.first;
  if (isRead && dash != std::string::npos)
    isRead = readLayer(layers.substr(dash + 1), range.last);
  if (!isRead)
    return "--layer-recompute: '" + text +
           "' names no layers; write 0-3=full for the first four, or 5=none";
  if (range.last < range.first)
    return "--layer-recompute: layers " + layers + " end with " +
           std::to_string(range.last) + ", before they begin with " +
           std::to_string(range.first) + "; write the smaller number first";
  std::string mode = text.substr(equals + 1);
  std::optional<Recompute> known = fromName<Recompute>(mode);
  if (!known || *known == Recompute::Auto)
    return "--layer-recompute: layers " + layers + " cannot recompute '" +
           mode + "'; use none, selective or full";
  range.recompute = *known;
  return "";
}

} // namespace

std::string LayerRange::layers() const {
  std::string text = std::to_string(first);
  return last == first ? text : text + "-" + std::to_string(last);
}

std::string LayerRecompute::parse(const std::string &text) {
  ranges.clear();
  if (text.empty())
    return "";
  std::istringstream stream(text + ",");
  for (std::string part; std::getline(stream, part, ',');) {
    ranges.emplace_back();
    if (std::string why = readRange(part, ranges.back()); !why.empty())
      return why;
  }
  std::sort(ranges.begin(), ranges.end(),
            [](const LayerRange &a, const LayerRange &b) {
              return a.first < b.first;
            });
  for (size_t i = 1; i < ranges.size(); ++i)
    if (ranges[i].first <= ranges[i - 1].last)
      return "--layer-recompute: layers " + ranges[i - 1].layers() + " and " +
             ranges[i].layers() + " both have layer " +
             std::to_string(ranges[i].first) + "; give each layer once";
  return "";
}

std::string LayerRecompute::str() const {
  std::string text;
  for (const LayerRange &range : ranges)
    text += (text.empty() ? "" : ",") + range.layers() + "=" +
            nameOf(range.recompute);
  return text;
}
