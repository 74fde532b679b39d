//===- LayerModes.h - the layers of a program and their modes ---*- C++ -*-===//

#ifndef TESSERA_PROGRAM_LAYERMODES_H
#define TESSERA_PROGRAM_LAYERMODES_H

#include "tessera/Options/LayerRecompute.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <vector>

namespace tessera::program {

struct Recomputation;

/// The layers of a program by name and number, and how each of them recomputes.
class LayerModes {
public:
  /// Returns nothing where layers differ, but have no names: the artifact is
  /// damaged, or an older compiler wrote it.
  static std::optional<LayerModes>
  of(const std::optional<Recomputation> &recompute);

  size_t layers() const { return modes.size(); }
  /// The place in the program of the layer that a part is in: 3 of "h.3.mlp".
  std::optional<int64_t> layerOf(llvm::StringRef part) const;
  Recompute modeOf(llvm::StringRef part) const;

private:
  Recompute outside = Recompute::None; ///< Parts outside of layers have it.
  std::vector<Recompute> modes;        ///< Those of the layers.
  llvm::StringMap<int64_t> numbers;    ///< Those of the layers' names.
};

} // namespace tessera::program

#endif // TESSERA_PROGRAM_LAYERMODES_H
