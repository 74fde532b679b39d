//===- RTProgram.h - the lowered program of a module ------------*- C++ -*-===//

#ifndef TESSERA_DIALECT_RT_RTPROGRAM_H
#define TESSERA_DIALECT_RT_RTPROGRAM_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace tessera::rt {

/// On a program with `rt.stage`: the mesh axis along which programs are
/// numbered. Without it, this is the axis of pipeline stages.
constexpr llvm::StringLiteral kStageAxisAttr = "rt.stage_axis";
llvm::StringRef stageAxisOf(mlir::func::FuncOp step);

/// On a module: the most workspace that one of its CUDA kernels needs, in
/// bytes.
constexpr llvm::StringLiteral kWorkspaceAttr = "rt.workspace_bytes";

/// On a module: what the user chose (a dictionary whose entries become top
/// level entries of the metadata: precision, target, optimizer).
constexpr llvm::StringLiteral kOptionsAttr = "rt.options";
/// On a module: further entries of the metadata's report.
constexpr llvm::StringLiteral kReportAttr = "rt.report";
/// On a module: the metadata as a string, after rt-attach-metadata.
constexpr llvm::StringLiteral kMetadataAttr = "rt.metadata";
/// On sends and receives: the value and the micro-batch that they carry, so
/// that a message is not taken for another one with as many bytes.
constexpr llvm::StringLiteral kMessageAttr = "rt.message";

/// Sets an attribute of all arguments: one by one, each would be a new list of
/// all.
void setArgumentAttrs(mlir::func::FuncOp func, llvm::StringRef name,
                      llvm::ArrayRef<mlir::Attribute> values);

/// Returns whether an op is a collective of ranks that run different programs.
bool crossesPrograms(mlir::Operation *op);

/// The programs of nn::findPrograms, the evaluation's after the step's: one
/// block each, tensors of static shape in rt ops only. Emits an error where a
/// module has none.
mlir::FailureOr<llvm::SmallVector<mlir::func::FuncOp>>
findPrograms(mlir::ModuleOp module);

} // namespace tessera::rt

#endif // TESSERA_DIALECT_RT_RTPROGRAM_H
