//===- PartName.h - the names of parts of a model ---------------*- C++ -*-===//
// Calls, tensors and locations name the part of the model that they belong to,
// as `h.3.mlp` or `transformer.h.3.mlp.c_fc.weight`. All that such a name says
// of layers is read here.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_PROGRAM_PARTNAME_H
#define TESSERA_PROGRAM_PARTNAME_H

#include "llvm/ADT/StringRef.h"
#include <set>
#include <string>

namespace tessera::program {

/// The parts that importers give to the last product and to the loss.
inline constexpr llvm::StringLiteral kHeadPart = "head";
inline constexpr llvm::StringLiteral kLossPart = "loss";

/// A layer as the name of a part tells it: the first component that is a
/// number, and the name up to there.
struct LayerName {
  llvm::StringRef name; ///< "h.3" of "h.3.mlp"; empty: the part is in none.
  int64_t number = -1;  ///< 3; -1: the part is in none.
};
LayerName layerOfPart(llvm::StringRef part);

/// Returns the name with a "#" for the layer's number: "h.#.mlp" of "h.3.mlp".
/// A name that holds the model's own becomes that: "layers.#.mlp" of
/// "h.3.layers.3.mlp".
std::string placeOf(llvm::StringRef part);

/// Returns a place with the range of its layers: "h.0-5.mlp".
std::string placeText(const std::string &place,
                      const std::set<int64_t> &numbers);

} // namespace tessera::program

#endif // TESSERA_PROGRAM_PARTNAME_H
