//===- LayerRecompute.h - what layers compute again -------------*- C++ -*-===//
// Chooses the values of forward that backward recomputes: for a whole model,
// and for ranges of layers that differ from the rest. It needs no MLIR.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_OPTIONS_LAYERRECOMPUTE_H
#define TESSERA_OPTIONS_LAYERRECOMPUTE_H

#include "tessera/Options/Layers.h"
#include "tessera/Options/Names.h"

namespace tessera {

/// The values that backward computes again instead of keeping them. Auto is the
/// least that fits into the memory limit.
enum class Recompute { None, Selective, Full, Auto };
template <> struct Names<Recompute> {
  static constexpr Name<Recompute> table[] = {
      {Recompute::None, "none"},
      {Recompute::Selective, "selective"},
      {Recompute::Full, "full"},
      {Recompute::Auto, "auto"}};
};

struct LayerRange : Layers {
  Recompute recompute = Recompute::None; ///< Never Auto.
};

/// Ranges in ascending order, none of which overlap. Other layers are as the
/// rest of the model.
struct LayerRecompute {
  std::vector<LayerRange> ranges;

  /// Replaces the ranges by those of "0-3=full,7=none". Returns what is wrong,
  /// or "".
  std::string parse(const std::string &text);
  /// Returns the text that parse takes; "" without ranges.
  std::string str() const;
};

} // namespace tessera

#endif // TESSERA_OPTIONS_LAYERRECOMPUTE_H
