//===- ConfigKeys.h - which keys of a config a family knows -----*- C++ -*-===//
// A key is known and used, known to change nothing, or known to change models
// and refused unless its value asks for nothing. Others are noted.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_IMPORT_CONFIGKEYS_H
#define TESSERA_LIB_IMPORT_CONFIGKEYS_H

#include "lib/Import/ConfigFile.h"

namespace tessera {

/// Sizes index i32 token ids and i64 elements; a module holds every layer.
constexpr int64_t kMaximalSize = (int64_t(1) << 31) - 1;
constexpr int64_t kMaximalLayers = 4096;

struct ConfigKeys {
  llvm::StringRef family; ///< The name in messages: "GPT-2".
  /// The models of the family that are supported: "a decoder-only GPT-2".
  llvm::StringRef training;
  llvm::ArrayRef<llvm::StringLiteral> required, optional;
  /// Ignored in this family, besides those that every family ignores.
  llvm::ArrayRef<llvm::StringLiteral> harmless;
  /// Change the model wherever their value is not empty or false.
  llvm::ArrayRef<llvm::StringLiteral> unsupported;
  /// The first is the one that messages name.
  llvm::ArrayRef<llvm::StringRef> architectures;
  /// Lists the values of `position_embedding_type` that describe the family.
  llvm::ArrayRef<llvm::StringLiteral> positions = {};
  /// Says whether a token sees only itself and those before it.
  bool isCausal = true;
};

/// Emits an error where a required key is absent, one that changes the model is
/// used, another architecture is named, or a key looks like a misspelt one;
/// warns once of all other unknown keys.
mlir::LogicalResult checkKeys(const ConfigFile &file, const ConfigKeys &keys);

/// Reads the token `pad_token_id` as nn.Embedding(padding_idx) counts it: a
/// negative number counts from the end of the vocabulary, and null is no token.
/// `padding` stays as it is where the key is absent.
mlir::LogicalResult readPadding(const ConfigFile &file, int64_t vocabulary,
                                std::optional<int64_t> &padding);

} // namespace tessera

#endif // TESSERA_LIB_IMPORT_CONFIGKEYS_H
