//===- KernelEmitter.h - an ABI function from a kernel ----------*- C++ -*-===//
// Emits `void k(buffers, scalars, begin, end)` (tsr_abi_kernel) as an llvm.func
// holding scf, arith, math and vector ops. One file per traversal.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LIB_CONVERSION_KERNELTOLLVM_KERNELEMITTER_H
#define TESSERA_LIB_CONVERSION_KERNELTOLLVM_KERNELEMITTER_H

#include "BodyEmitter.h"
#include "LaneWalk.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "tessera/Conversion/KernelToLLVM/Phases.h"

namespace tessera {

class KernelEmitter {
public:
  KernelEmitter(const Kernel &kernel, unsigned vectorBits);
  /// Creates the function next to the kernel, under the same name; the caller
  /// erases the kernel.
  mlir::LLVM::LLVMFuncOp emit();

private:
  void createFunction();
  void bindArguments();
  void allocateScratch();
  void emitUniform();
  /// Stores the results along `domain`.
  void storeResults(Dims domain, const Position &position);

  void emitFlat();

  void emitRows();
  void emitRowLoop(const Phase &phase, Scope &rowScope, mlir::Value row);
  LaneValues emitRowBlock(const Phase &phase, Scope &rowScope, mlir::Value row,
                          const LaneBlock &block, mlir::OpBuilder &builder,
                          mlir::ValueRange carried);

  void emitColumns();
  void emitColumnBlock(const LaneBlock &block, mlir::OpBuilder &builder);
  void emitColumnLoop(const Phase &phase, Position column);

  /// A walk that carries nothing.
  void walkLanes(
      mlir::OpBuilder builder, const LaneRange &range, unsigned unroll,
      llvm::function_ref<void(mlir::OpBuilder &, const LaneBlock &)> body);
  /// Accumulators at their identities.
  LaneValues identities(const Phase &phase, unsigned lanes,
                        mlir::OpBuilder &builder);
  /// Evaluates one vector of a phase, stores what it stores, and returns the
  /// updated accumulators; lanes outside `mask` keep theirs.
  LaneValues emitStep(const Phase &phase, const Position &position,
                      mlir::ValueRange carried, mlir::Value mask);
  /// Combines with the init operand, unless that is the identity.
  mlir::Value withInit(const Reduction &reduction, mlir::Value value,
                       const Position &position);
  unsigned unrollOf(const Phase &phase) const;

  const Kernel &kernel;
  Schedule schedule;
  mlir::Location loc;
  unsigned lanes;
  /// Of a vector's size that the machine has.
  unsigned registers;
  BodyEmitter body;
  mlir::LLVM::LLVMFuncOp function;
  Scope uniform;
  mlir::Value begin, end;
  llvm::SmallVector<mlir::Value> resultBuffers;
};

} // namespace tessera

#endif // TESSERA_LIB_CONVERSION_KERNELTOLLVM_KERNELEMITTER_H
