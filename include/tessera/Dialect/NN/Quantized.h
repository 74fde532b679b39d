//===- Quantized.h - parameters of integers with scales ---------*- C++ -*-===//
// A parameter of i8 has an argument beside it, of role "scale" in an artifact,
// whose products with the integers are the weights.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_NN_QUANTIZED_H
#define TESSERA_DIALECT_NN_QUANTIZED_H

#include "llvm/ADT/StringRef.h"

namespace tessera::nn {

/// On a scale: the dimensions of its parameter that it has, in order.
constexpr llvm::StringLiteral kChannelsAttr = "nn.channels";
/// On a scale: the name of its parameter.
constexpr llvm::StringLiteral kScaleOfAttr = "nn.of";
constexpr llvm::StringLiteral kScaleRole = "scale";

} // namespace tessera::nn

#endif // TESSERA_DIALECT_NN_QUANTIZED_H
