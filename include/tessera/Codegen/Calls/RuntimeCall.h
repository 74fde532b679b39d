//===- RuntimeCall.h - one op as one call of the runtime --------*- C++ -*-===//
// An op says itself what it passes to which entry (runtime's abi.h): by family
// in lib/Codegen/Calls, or in its own dialect. No code exists yet.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_CODEGEN_CALLS_RUNTIMECALL_H
#define TESSERA_CODEGEN_CALLS_RUNTIMECALL_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/OpDefinition.h"
#include "tessera/Dialect/Dist/Dist.h"

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
  /// Returns a scalar of the program, as a constant where it is one.
  static CallArgument of(mlir::Value scalar);
};

/// A call of one of TSR_ENTRY_*, with as many arguments as the entry has.
struct RuntimeCall {
  explicit RuntimeCall(int entry);
  /// Makes it a call of an entry that has the same arguments and more.
  void extendTo(int entry);

  int entry;
  /// buffers[0] of a launch; the tensors follow.
  mlir::FlatSymbolRefAttr kernel;
  llvm::SmallVector<mlir::Value> buffers; ///< Null values are null pointers.
  llvm::SmallVector<CallArgument> arguments;
};

/// Returns the call that an op is; fails with an error if there is none.
mlir::FailureOr<RuntimeCall> describeCall(mlir::Operation *op,
                                          dist::MeshAttr mesh);

/// Returns the element type of a tensor as TSR_DTYPE_*; fails with an error of
/// `op` for others.
mlir::FailureOr<int64_t> dtypeOf(mlir::Operation *op, mlir::Value value);

/// Attaches the interface to the ops of rt that are calls.
void registerEntryCalls(mlir::DialectRegistry &registry);

} // namespace tessera

#include "tessera/Codegen/Calls/EntryCallOpInterface.h.inc"

#endif // TESSERA_CODEGEN_CALLS_RUNTIMECALL_H
