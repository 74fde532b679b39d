//===- Activation.h - activations by their names in configs -----*- C++ -*-===//

#ifndef TESSERA_LIB_IMPORT_ACTIVATION_H
#define TESSERA_LIB_IMPORT_ACTIVATION_H

#include "lib/Import/ConfigFile.h"
#include "tessera/Dialect/NN/NN.h"

namespace tessera {

/// Returns the function that `transformers` calls `name` (ACT2FN); nullopt if
/// it is unknown.
std::optional<nn::Function> activationOf(llvm::StringRef name);

/// Reads an activation, which must be one of `names`; the error lists them in
/// their order. `function` stays as it is where the key is absent.
mlir::LogicalResult readActivation(const ConfigFile &file, llvm::StringRef key,
                                   llvm::ArrayRef<llvm::StringRef> names,
                                   nn::Function &function);

} // namespace tessera

#endif // TESSERA_LIB_IMPORT_ACTIVATION_H
