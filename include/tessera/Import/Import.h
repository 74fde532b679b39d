//===- Import.h - model descriptions to nn modules --------------*- C++ -*-===//
// Reads a Hugging Face config.json or an nn .mlir file. All errors are
// diagnostics of the context, with the line and column of the key at fault.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_IMPORT_IMPORT_H
#define TESSERA_IMPORT_IMPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "tessera/Options/PlanOptions.h"
#include <optional>

namespace tessera {

/// A small model of the same make, for `verify`: few layers, short sequences,
/// heads of 8; head count, biases and options stay. Sizes keep their remainder
/// by the ranks that may cut them, so that what a mesh leaves uneven stays so.
struct ShrinkOptions {
  int64_t layers = 2, positions = 16;
  /// Ranks that may cut the sequence, heads, dimensions of weights, and
  /// parameters once more.
  int64_t sequenceRanks = 1, headRanks = 1, tensorRanks = 1, dataRanks = 1;
};

/// The size that stands for a larger one, about `limit`: it has the same
/// remainder by `ranks`, and as many of these have nothing of it. Sizes up to
/// the limit stay.
int64_t shrunkSize(int64_t size, int64_t limit, int64_t ranks);

/// What a config does not say.
struct ImportOptions {
  /// Defaults are n_positions tokens, 8 sequences and one micro-batch. A .mlir
  /// file has fixed sizes: other values than its own are errors.
  SizeOptions sizes;
  /// Mixed precision starts from an f32 program. For f64 a .mlir program in f32
  /// is widened.
  Precision precision = Precision::F32;
  /// Makes the model small. Configs only.
  std::optional<ShrinkOptions> shrink;
};

/// The module has `nn.model` and a function `@loss` for one micro-batch. `path`
/// is a config.json, a directory that holds one, or a .mlir file.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
importModel(mlir::MLIRContext *context, llvm::StringRef path,
            const ImportOptions &options);

} // namespace tessera

#endif // TESSERA_IMPORT_IMPORT_H
