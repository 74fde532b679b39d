//===- Place.h - parts of a model that layers have alike --------*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_REPORT_PLACE_H
#define TESSERA_TOOLS_TESSERA_REPORT_PLACE_H

#include "llvm/ADT/StringRef.h"
#include <set>
#include <string>

namespace tessera {

/// The first number between dots: "h.3.mlp" -> 3; -1: none.
int64_t layerOf(llvm::StringRef name);

/// The name with a "#" for the layer's number: "h.3.mlp" -> "h.#.mlp"; the
/// model's own name of the layer alone: "h.3.layers.3.mlp" -> "layers.#.mlp".
std::string placeOf(llvm::StringRef name, int64_t layer);

/// "h.#.mlp" of layers 0 to 5 -> "h.0-5.mlp".
std::string placeText(const std::string &place,
                      const std::set<int64_t> &numbers);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_REPORT_PLACE_H
