//===- ConfigKeys.h - which keys of a config a family knows -----*- C++ -*-===//

#ifndef TESSERA_LIB_IMPORT_CONFIGKEYS_H
#define TESSERA_LIB_IMPORT_CONFIGKEYS_H

#include "lib/Import/ConfigFile.h"

namespace tessera {

/// Sizes index i32 token ids and i64 elements; a module holds every layer.
constexpr int64_t kMaximalSize = (int64_t(1) << 31) - 1;
constexpr int64_t kMaximalLayers = 4096;

struct ConfigKeys {
  llvm::StringRef family;   ///< As messages name it: "GPT-2".
  llvm::StringRef training; ///< What remains: "a decoder-only GPT-2".
  llvm::ArrayRef<llvm::StringLiteral> required, optional;
  /// Ignored in this family, besides those that every family ignores.
  llvm::ArrayRef<llvm::StringLiteral> harmless;
  /// Change the model wherever their value is not empty or false.
  llvm::ArrayRef<llvm::StringLiteral> unsupported;
  /// The first is the one that messages name.
  llvm::ArrayRef<llvm::StringLiteral> architectures;
};

/// Emits an error where a required key is absent, an unsupported one is used,
/// another architecture is named, or a key looks like a misspelt one; warns
/// once of all other unknown keys.
mlir::LogicalResult checkKeys(const ConfigFile &file, const ConfigKeys &keys);

} // namespace tessera

#endif // TESSERA_LIB_IMPORT_CONFIGKEYS_H
