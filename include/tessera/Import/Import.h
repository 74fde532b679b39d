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
  /// Tokens of the whole model's sequence; 0: its default.
  int64_t sequence = 0;
  /// Ranks that may cut the sequence, heads, dimensions of weights, and
  /// parameters once more.
  int64_t sequenceRanks = 1, headRanks = 1, tensorRanks = 1, dataRanks = 1;
};

/// Returns the size that stands for a larger one, about `limit`: it has the
/// same remainder by `ranks`, and as many of these have nothing of it. Sizes up
/// to the limit stay.
int64_t shrunkSize(int64_t size, int64_t limit, int64_t ranks);

/// Configs of today state 131072 tokens and more, which few machines can train
/// on: longer sequences than this are asked for.
inline constexpr int64_t kLongestDefault = 4096;
inline constexpr int64_t kLeastBatch = 8;

/// Sizes and settings that a config does not have.
struct ImportOptions {
  /// Defaults are the model's longest sequence, but at most `kLongestDefault`
  /// tokens, one micro-batch, and the first multiple of the micro-batches and
  /// `batchRanks` from `kLeastBatch` sequences on. A .mlir file has fixed
  /// sizes: other values than its own are errors.
  SizeOptions sizes;
  /// Ranks that split the batch: of `dp` and `ep`.
  int64_t batchRanks = 1;
  /// Sizes that are chosen, and are not the plain ones, are said in a remark.
  bool explains = false;
  /// Mixed precision starts from an f32 program. For f64 a .mlir program in f32
  /// is widened.
  Precision precision = Precision::F32;
  /// Only an encoder is meant: a T5 may be one alone.
  bool forEncoding = false;
  /// Requests are meant: sources of a T5 are of any length.
  bool forGeneration = false;
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
