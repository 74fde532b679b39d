//===- ConfigFiles.h - the texts that a model was imported from -*- C++ -*-===//
// `nn.config_files` of a module holds the config.json of its model, and the
// generation_config.json that lay beside it, as they were. The artifact takes
// them along, so that a checkpoint is a model that `transformers` opens.
// `nn.model_keys` and `nn.training_keys` hold, as JSON, the values in effect of
// the keys that were read: those that change what a model computes, and those
// that only change how it is trained. Checkpoints tell models apart by them.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_NN_CONFIGFILES_H
#define TESSERA_DIALECT_NN_CONFIGFILES_H

#include "mlir/IR/Operation.h"

namespace tessera::nn {

constexpr llvm::StringLiteral kConfigFilesAttr = "nn.config_files";
constexpr llvm::StringLiteral kConfigFile = "config.json";
constexpr llvm::StringLiteral kGenerationConfigFile = "generation_config.json";
/// The config of peft, made by nn-add-lora.
constexpr llvm::StringLiteral kAdapterConfigFile = "adapter_config.json";

/// Verifies a dictionary of these names and the texts of JSON objects.
mlir::LogicalResult verifyConfigFiles(mlir::Operation *op,
                                      mlir::Attribute files);

constexpr llvm::StringLiteral kModelKeysAttr = "nn.model_keys";
constexpr llvm::StringLiteral kTrainingKeysAttr = "nn.training_keys";

/// Emits an error unless the attribute is a dictionary of keys and the JSON of
/// their values.
mlir::LogicalResult verifyKeys(mlir::Operation *op, mlir::NamedAttribute keys);

} // namespace tessera::nn

#endif // TESSERA_DIALECT_NN_CONFIGFILES_H
