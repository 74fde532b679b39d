//===- HostEmitter.h - code of tsr_program_step ---------------------------===//
// Emits calls, loops and addresses into one LLVM function whose frame is the
// runtime's tsr_abi_frame. Every call may end the step with its status.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_CONVERSION_RTTOLLVM_HOSTEMITTER_H
#define TESSERA_LIB_CONVERSION_RTTOLLVM_HOSTEMITTER_H

#include "RuntimeCall.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/IRMapping.h"

namespace tessera {

class HostEmitter {
public:
  HostEmitter(mlir::ModuleOp module, mlir::func::FuncOp step);

  mlir::LogicalResult emit();

private:
  void createFunction();
  void finish();
  mlir::LogicalResult emitBlock(mlir::Block &block);
  mlir::LogicalResult emitOp(mlir::Operation *op);
  mlir::LogicalResult emitCall(rt::RuntimeCallOpInterface op);
  mlir::LogicalResult emitLoop(rt::LoopOp loop);
  void emitView(rt::ViewOp view);
  mlir::Value streamKey(rt::StreamKeyOp op);
  mlir::Value mixed(mlir::Value x);
  mlir::FailureOr<mlir::Value> coordinate(rt::CoordOp op);

  mlir::FailureOr<mlir::Value> bufferTable(const RuntimeCall &call,
                                           mlir::Operation *op);
  mlir::Value argumentTable(const RuntimeCall &call);
  mlir::Value constantTable(llvm::ArrayRef<CallArgument> arguments);
  mlir::Value valueOf(const CallArgument &argument);
  mlir::Value pointerTo(mlir::Value tensor);
  mlir::Value slot(mlir::Value &table, int64_t &slots, int64_t index,
                   mlir::Type type);
  mlir::Value constant(int64_t value);
  mlir::Value advance(mlir::Value pointer, int64_t bytes);
  mlir::Value loadField(mlir::Value pointer, int64_t bytes, mlir::Type type);
  void store(mlir::Value value, mlir::Value table, int64_t index);
  mlir::Value createTable(int64_t slots);

  mlir::ModuleOp module;
  mlir::func::FuncOp step;
  dist::MeshAttr mesh;
  mlir::OpBuilder builder;
  mlir::Location loc;
  mlir::Type pointer, i64, i32;

  mlir::LLVM::LLVMFuncOp function;
  mlir::Value api, context, arena, stepNumber, seed, coordinates;
  mlir::Value bufferSlots, argumentSlots; ///< Reused by all calls.
  mlir::Block *exit = nullptr;            ///< Returns its argument.
  int64_t nextOp = 0;                     ///< Index in "ops" of the metadata.
  mlir::IRMapping scalars;
  llvm::DenseMap<mlir::Value, mlir::Value> moving; ///< Views with an index.
  llvm::DenseMap<mlir::Attribute, mlir::LLVM::GlobalOp> tables;
};

} // namespace tessera

#endif // TESSERA_LIB_CONVERSION_RTTOLLVM_HOSTEMITTER_H
