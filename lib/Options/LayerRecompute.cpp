//===- LayerRecompute.cpp - what layers compute again ---------------------===//

#include "tessera/Options/LayerRecompute.h"

using namespace tessera;

static constexpr const char *kFlag = "--layer-recompute";

/// Reads a range such as "0-3=full".
static std::string readRange(const std::string &text, LayerRange &range) {
  size_t equals = text.find('=');
  std::string layers =
      equals == std::string::npos ? "" : text.substr(0, equals);
  if (std::string why = readLayers(
          kFlag, layers, text, "0-3=full for the first four, or 5=none", range);
      !why.empty())
    return why;
  std::string mode = text.substr(equals + 1);
  std::optional<Recompute> known = fromName<Recompute>(mode);
  if (!known || *known == Recompute::Auto)
    return std::string(kFlag) + ": layers " + layers + " cannot recompute '" +
           mode + "'; use none, selective or full";
  range.recompute = *known;
  return "";
}

std::string LayerRecompute::parse(const std::string &text) {
  return readRanges(kFlag, text, ranges, readRange);
}

std::string LayerRecompute::str() const {
  std::string text;
  for (const LayerRange &range : ranges)
    text += (text.empty() ? "" : ",") + range.layers() + "=" +
            nameOf(range.recompute);
  return text;
}
