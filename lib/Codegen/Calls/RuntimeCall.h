//===- RuntimeCall.h - one op as one call of the runtime --------*- C++ -*-===//
// What an op passes to which entry (runtime's abi.h), before any code exists.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_CODEGEN_CALLS_RUNTIMECALL_H
#define TESSERA_LIB_CODEGEN_CALLS_RUNTIMECALL_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tessera/Dialect/Dist/Dist.h"
#include "tessera/Dialect/RT/RT.h"

namespace tessera {

/// An integer that is known now, or a value of the program, or of the call of
/// its code: the seed, the step, where frame `constant` of a micro-batch
/// begins.
struct CallArgument {
  enum Source { Constant, Scalar, Seed, Step, Frame } source = Constant;
  int64_t constant = 0;
  mlir::Value scalar;

  CallArgument() = default;
  CallArgument(int64_t constant) : constant(constant) {}
  /// A scalar of the program, as a constant where it is one.
  static CallArgument of(mlir::Value scalar);
};

/// A call of one of TSR_ENTRY_*, with as many arguments as the entry has.
struct RuntimeCall {
  explicit RuntimeCall(int entry);

  int entry;
  /// buffers[0] of a launch; the tensors follow.
  mlir::FlatSymbolRefAttr kernel;
  llvm::SmallVector<mlir::Value> buffers; ///< Null values are null pointers.
  llvm::SmallVector<CallArgument> arguments;
};

/// The call that an op is; an error for what the runtime has no entry for.
mlir::FailureOr<RuntimeCall> describeCall(rt::RuntimeCallOpInterface op,
                                          dist::MeshAttr mesh);

/// The type of a value that is a tensor.
mlir::RankedTensorType typeOf(mlir::Value value);

/// Element type of a tensor, as TSR_DTYPE_*.
mlir::FailureOr<int64_t> dtypeOf(mlir::Operation *op, mlir::Value value);
/// Writes what a model says about attention into the arguments of a call.
void addModelArguments(nn::AttentionAttr attention, RuntimeCall &call);
/// The call of attention or its gradient, in a ring or not.
mlir::FailureOr<RuntimeCall> attentionCall(mlir::Operation *op);
mlir::FailureOr<RuntimeCall> appendCall(rt::AppendOp op);
mlir::FailureOr<RuntimeCall> cachedAttentionCall(rt::CachedAttentionOp op);
mlir::FailureOr<RuntimeCall> mergeMeansCall(rt::MergeMeansOp op);
mlir::FailureOr<RuntimeCall> penalizeCall(rt::PenalizeOp op);
mlir::FailureOr<RuntimeCall> topCall(rt::TopOp op);
mlir::FailureOr<RuntimeCall> mergeTopCall(rt::MergeTopOp op);
mlir::FailureOr<RuntimeCall> routedCall(rt::RoutedOp op);
mlir::FailureOr<RuntimeCall> expandCall(rt::ExpandRowsOp op);
mlir::FailureOr<RuntimeCall> roundsCall(rt::RowRoundsOp op);
mlir::FailureOr<RuntimeCall> packCall(rt::PackRowsOp op);
mlir::FailureOr<RuntimeCall> unpackCall(rt::UnpackRowsOp op);

} // namespace tessera

#endif // TESSERA_LIB_CODEGEN_CALLS_RUNTIMECALL_H
