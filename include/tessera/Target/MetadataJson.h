//===- MetadataJson.h - the JSON part of an artifact ------------*- C++ -*-===//
// docs/Artifact.md describes it; the runtime and `tessera report` read it.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TARGET_METADATAJSON_H
#define TESSERA_TARGET_METADATAJSON_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/JSON.h"

namespace tessera {

/// Metadata of planned programs, which are as rt::findPrograms gives them, as
/// text. Errors are diagnostics.
mlir::FailureOr<std::string>
buildMetadata(mlir::ModuleOp module,
              llvm::ArrayRef<mlir::func::FuncOp> programs);

/// Returns integers, floats, strings, unit, arrays and dictionaries as JSON;
/// null for other attributes. Keys and strings point into the attribute's
/// context and must not outlive it.
llvm::json::Value toJson(mlir::Attribute attribute);

} // namespace tessera

#endif // TESSERA_TARGET_METADATAJSON_H
