//===- Layers.cpp - ranges of layers as users write them ------------------===//

#include "tessera/Options/Layers.h"
#include <cerrno>
#include <cstdlib>

using namespace tessera;

/// A whole number, from 0 to more layers than any model has, that the whole
/// text is.
static bool readLayer(const std::string &text, int64_t &layer) {
  constexpr int64_t most = 1000000;
  char *end = nullptr;
  errno = 0;
  layer = std::strtoll(text.c_str(), &end, 10);
  bool isDigit = !text.empty() && text.front() >= '0' && text.front() <= '9';
  return isDigit && !*end && !errno && layer <= most;
}

std::string tessera::readLayers(const std::string &flag,
                                const std::string &text,
                                const std::string &whole,
                                const std::string &example, Layers &layers) {
  size_t dash = text.find('-');
  bool isRead = readLayer(text.substr(0, dash), layers.first);
  layers.last = layers.first;
  if (isRead && dash != std::string::npos)
    isRead = readLayer(text.substr(dash + 1), layers.last);
  if (!isRead)
    return flag + ": '" + whole + "' names no layers; write " + example;
  if (layers.last < layers.first)
    return flag + ": layers " + text + " end with " +
           std::to_string(layers.last) + ", before they begin with " +
           std::to_string(layers.first) + "; write the smaller number first";
  return "";
}

std::string tessera::checkDisjoint(const std::string &flag,
                                   const Layers &earlier, const Layers &later) {
  if (later.first > earlier.last)
    return "";
  return flag + ": layers " + earlier.layers() + " and " + later.layers() +
         " both have layer " + std::to_string(later.first) +
         "; give each layer once";
}

std::string Layers::layers() const {
  std::string text = std::to_string(first);
  return last == first ? text : text + "-" + std::to_string(last);
}

std::string LayerList::parse(const std::string &flag, const std::string &text) {
  return readRanges(flag, text, ranges,
                    [&](const std::string &part, Layers &range) {
                      return readLayers(flag, part, part, "0-3 or 5", range);
                    });
}

std::string LayerList::str() const {
  std::string text;
  for (const Layers &range : ranges)
    text += (text.empty() ? "" : ",") + range.layers();
  return text;
}
