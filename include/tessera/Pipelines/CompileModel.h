//===- CompileModel.h - from a model to an artifact -------------*- C++ -*-===//

#ifndef TESSERA_PIPELINES_COMPILEMODEL_H
#define TESSERA_PIPELINES_COMPILEMODEL_H

#include "mlir/IR/BuiltinOps.h"
#include "tessera/Import/Import.h"
#include "tessera/Pipelines/Compile.h"
#include "tessera/Pipelines/PlannedModel.h"
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tessera {

enum class Choices { Said, Silent };

/// Returns how `options` ask for their model to be read. Of several processes
/// the first one alone says what is chosen.
ImportOptions importOptions(const PlannedModel &options, Choices choices);

/// Returns how `options` ask for `module` to be compiled. The number of
/// micro-batches is the module's: a .mlir file has its own.
PlanOptions planOf(const PlannedModel &options, mlir::ModuleOp module);

/// The data that a model reads; `target` is 0 if it has no target sequences.
struct DataSizes {
  int64_t sequence, target, vocabulary;
  bool isMasked = false; ///< It predicts tokens that are hidden from it.
  /// These are never hidden; none: they are not known.
  std::optional<std::vector<int64_t>> special = std::nullopt;
};

/// Checks a model when it is imported, before minutes of compilation, and
/// reports its errors itself.
using SizeCheck = std::function<mlir::LogicalResult(const DataSizes &)>;

/// Compiles the model of `options` to `path`. Errors are diagnostics of the
/// context, which has the dialects of `registerCompilerDialects`.
mlir::LogicalResult compileModel(mlir::MLIRContext &context,
                                 const PlannedModel &options,
                                 const std::string &path,
                                 const SizeCheck &check = {});

/// Returns what the artifact of the model of `options` would say about itself.
/// `observer` sees the program after each pass.
mlir::FailureOr<std::string> describeModel(mlir::MLIRContext &context,
                                           const PlannedModel &options,
                                           const PassObserver &observer = {});

} // namespace tessera

#endif // TESSERA_PIPELINES_COMPILEMODEL_H
