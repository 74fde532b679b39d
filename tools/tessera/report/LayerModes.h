//===- LayerModes.h - what each layer of an artifact recomputes -*- C++ -*-===//
// Reads docs/Artifact.md's "recompute": layers by name and number, and how each
// of them recomputes.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_TESSERA_REPORT_LAYERMODES_H
#define TESSERA_TOOLS_TESSERA_REPORT_LAYERMODES_H

#include "tessera/Options/LayerRecompute.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"
#include <optional>
#include <vector>

namespace tessera {

class LayerModes {
public:
  /// False where layers differ, but have no names: the artifact is damaged, or
  /// an older compiler wrote it.
  bool read(const llvm::json::Object &root);

  size_t layers() const { return modes.size(); }
  /// The number of the layer that a part of the program is in: 3 of "h.3.mlp".
  std::optional<int64_t> layerOf(llvm::StringRef part) const;
  Recompute modeOf(llvm::StringRef part) const;

private:
  Recompute outside = Recompute::None; ///< The mode of ops in no layer.
  std::vector<Recompute> modes;        ///< One for each layer.
  llvm::StringMap<int64_t> numbers;    ///< Keyed by name.
};

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_REPORT_LAYERMODES_H
