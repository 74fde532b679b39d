//===- Adapters.h - marks and names of LoRA's adapters ----------*- C++ -*-===//
// nn-add-lora makes adapters of plain nn ops; plans place them as what they are
// part of.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_NN_ADAPTERS_H
#define TESSERA_DIALECT_NN_ADAPTERS_H

#include "tessera/Dialect/NN/NN.h"

namespace tessera::nn {

/// On ops of an adapter: dropout, the product with A, the product with B, and
/// the sum with what the layer itself makes.
constexpr llvm::StringLiteral kAdapterAttr = "nn.adapter";

/// Returns peft's name in files for "lora_A" of a model's module.
inline std::string adapterName(llvm::StringRef module, llvm::StringRef which) {
  return ("base_model.model." + module + "." + which + ".weight").str();
}

} // namespace tessera::nn

#endif // TESSERA_DIALECT_NN_ADAPTERS_H
