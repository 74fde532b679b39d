//===- Import.h - model descriptions to nn modules --------------*- C++ -*-===//
// Reads a Hugging Face config.json or an nn .mlir file. All errors are
// diagnostics of the context, with the line and column of the key at fault.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_IMPORT_IMPORT_H
#define TESSERA_IMPORT_IMPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "tessera/Options/PlanOptions.h"

namespace tessera {

/// What a config does not say.
struct ImportOptions {
  /// Defaults are n_positions tokens, 8 sequences and one micro-batch. A .mlir
  /// file has fixed sizes: other values than its own are errors.
  SizeOptions sizes;
  /// Mixed precision starts from an f32 program. For f64 a .mlir program in f32
  /// is widened.
  Precision precision = Precision::F32;
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
