//===- LoopEmitter.h - an ABI function from a kernel ------------*- C++ -*-===//
// Emits `void k(buffers, scalars, begin, end)` (tsr_abi_kernel) as an llvm.func
// holding scf, arith, math and vector ops.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LIB_CODEGEN_KERNELS_CPU_LOOPEMITTER_H
#define TESSERA_LIB_CODEGEN_KERNELS_CPU_LOOPEMITTER_H

#include "lib/Codegen/Kernels/KernelEmitter.h"
#include "lib/Codegen/Kernels/LaneWalk.h"

namespace tessera {

class LoopEmitter : KernelEmitter {
public:
  LoopEmitter(const Kernel &kernel, unsigned vectorBits);
  /// Creates the function next to the kernel, under the same name; the caller
  /// erases the kernel.
  mlir::LLVM::LLVMFuncOp emit();

private:
  void bindArguments();
  void allocateScratch();

  void emitFlat() override;

  void emitRows() override;
  void emitRowLoop(const LoopPhase &phase, Scope &rowScope, mlir::Value row);
  LaneValues emitRowBlock(const LoopPhase &phase, Scope &rowScope,
                          mlir::Value row, const LaneBlock &block,
                          mlir::OpBuilder &builder, mlir::ValueRange carried);

  void emitColumns() override;
  void emitColumnBlock(const LaneBlock &block, mlir::OpBuilder &builder);
  void emitColumnLoop(const LoopPhase &phase, Position column);

  /// Walks without carrying anything.
  void walkLanes(
      mlir::OpBuilder builder, const LaneRange &range, unsigned unroll,
      llvm::function_ref<void(mlir::OpBuilder &, const LaneBlock &)> body);
  unsigned unrollOf(const LoopPhase &phase) const;

  unsigned lanes;
  unsigned registers; ///< Vector registers of the machine.
  mlir::Value begin, end;
};

} // namespace tessera

#endif // TESSERA_LIB_CODEGEN_KERNELS_CPU_LOOPEMITTER_H
