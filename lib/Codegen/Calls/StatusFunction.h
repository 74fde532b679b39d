//===- StatusFunction.h - an LLVM function that stops at a status ---------===//
// i32 f(tsr_abi_frame *frame): straight code and loops with calls that
// return a status; the first that is not zero is returned at once.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_CODEGEN_CALLS_STATUSFUNCTION_H
#define TESSERA_LIB_CODEGEN_CALLS_STATUSFUNCTION_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

namespace tessera {

class StatusFunction {
public:
  /// Stands before `position`; code is appended at `builder`.
  StatusFunction(mlir::Operation *position, llvm::StringRef name,
                 bool isTask = false);

  mlir::Value frame() { return function.getArgument(0); }
  /// Returns the micro-batch of a task.
  mlir::Value microBatch() { return function.getArgument(1); }

  mlir::Value constant(int64_t value);
  mlir::Value advance(mlir::Value pointer, int64_t bytes);
  mlir::Value load(mlir::Value pointer, int64_t bytes, mlir::Type type);
  mlir::Value addressOf(mlir::LLVM::GlobalOp global);
  /// Returns where element `index` of a table is, or the element.
  mlir::Value placeAt(mlir::Value table, mlir::Value index, mlir::Type type);
  mlir::Value loadAt(mlir::Value table, mlir::Value index, mlir::Type type);
  /// Element `first` + `index` of CallTables::indices.
  mlir::Value loadIndex(mlir::LLVM::GlobalOp table, mlir::Value first,
                        mlir::Value index);
  /// A field of the frame, loaded once at the start.
  mlir::Value field(int64_t bytes, mlir::Type type);
  void store(mlir::Value value, mlir::Value table, int64_t index);
  /// Returns stack space for 8-byte slots, for the whole function.
  mlir::Value createTable(int64_t slots);

  /// Returns `status` if it is not zero; what follows runs if it is.
  void stopUnlessZero(mlir::Value status);
  /// Ends the function with status 0.
  void finish();

  mlir::LLVM::LLVMFuncOp function;
  mlir::OpBuilder builder;
  mlir::Location loc; ///< The location of what is emitted next.
  mlir::Type pointer, i64, i32;
  mlir::Block *exit; ///< Returns its argument; new blocks go before it.

private:
  llvm::DenseMap<int64_t, mlir::Value> fields;
};

} // namespace tessera

#endif // TESSERA_LIB_CODEGEN_CALLS_STATUSFUNCTION_H
