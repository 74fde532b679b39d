//===- ModelKeys.h - what a program says of its model -----------*- C++ -*-===//

#ifndef TESSERA_LIB_IMPORT_MODELKEYS_H
#define TESSERA_LIB_IMPORT_MODELKEYS_H

#include "lib/Import/ConfigFile.h"
#include "mlir/IR/BuiltinOps.h"

namespace tessera {

/// Sets nn.model_keys and nn.training_keys to what was read of a config.
void attachModelKeys(mlir::ModuleOp module, const ConfigFile &file);

/// Adds the key "program" to nn.model_keys: a hash of what @loss computes, of
/// sequences of any length in batches of any size.
void attachProgramHash(mlir::ModuleOp module);

} // namespace tessera

#endif // TESSERA_LIB_IMPORT_MODELKEYS_H
