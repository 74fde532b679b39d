//===- Import.h - model descriptions to nn modules --------------*- C++ -*-===//
// Reads a Hugging Face config.json (GPT-2) or an nn .mlir file. All errors are
// diagnostics of the context, with the line and column of the key at fault.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_IMPORT_IMPORT_H
#define TESSERA_IMPORT_IMPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <string>

namespace tessera {

/// What a config does not say. 0 and "" stand for the defaults; a .mlir file
/// has fixed sizes, and other values than its own are errors.
struct ImportOptions {
  int64_t sequence = 0;     ///< Tokens of a sequence; default: n_positions.
  int64_t batch = 0;        ///< Sequences of an optimizer step; default: 8.
  int64_t microBatches = 0; ///< Parts of a batch; default: 1.
  /// "f32" (default of a config) or "f64"; a .mlir program in f32 is widened.
  std::string elementType;
  /// Tokens of a target; default: those of a sequence. Encoder-decoder models
  /// only.
  int64_t target = 0;
  /// A small model of the same make, for `verify`: at most `shrunkLayers`
  /// layers, `shrunkPositions` positions, heads of 8; head count, biases and
  /// options stay. Configs only.
  bool shrink = false;
  int64_t shrunkLayers = 2;
  int64_t shrunkPositions = 16;
};

/// The module has `nn.model` and a function `@loss` for one micro-batch. `path`
/// is a config.json, a directory that holds one, or a .mlir file.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
importModel(mlir::MLIRContext *context, llvm::StringRef path,
            const ImportOptions &options);

} // namespace tessera

#endif // TESSERA_IMPORT_IMPORT_H
