//===- KernelEmitter.h - what code of a kernel shares -----------*- C++ -*-===//
// A target decides which thread is where and how its lanes walk; this class
// evaluates the phases of the kernel at a position. LoopEmitter is the CPU's,
// GridEmitter the GPU's.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LIB_CODEGEN_KERNELS_KERNELEMITTER_H
#define TESSERA_LIB_CODEGEN_KERNELS_KERNELEMITTER_H

#include "lib/Codegen/Kernels/BodyEmitter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "tessera/Lower/Kernels/KernelLoops.h"

namespace tessera {

/// Accumulators, one per reduction of a phase.
using LaneValues = llvm::SmallVector<mlir::Value>;

class KernelEmitter {
protected:
  explicit KernelEmitter(const Kernel &kernel);
  virtual ~KernelEmitter() = default;

  virtual void emitRows() = 0;
  virtual void emitColumns() = 0;
  virtual void emitFlat() = 0;
  /// Emits the scalars, then the kernel's traversal.
  void emitContent();

  /// An llvm.func next to the kernel with an empty body; `uniform` then emits
  /// at its end.
  void createFunction(llvm::StringRef name,
                      llvm::ArrayRef<mlir::Type> parameters);
  /// Emits the scalars and what is computed from them alone.
  void emitUniform();
  /// Stores the results along `domain`.
  void storeResults(Dims domain, const Position &position);
  /// Returns accumulators, each at its identity.
  LaneValues identities(llvm::ArrayRef<Reduction> reductions, unsigned lanes,
                        mlir::OpBuilder &builder);
  /// Evaluates one vector of a phase: what it stores and what it reduces.
  void evaluateStep(const LoopPhase &phase, const Position &position);
  /// Stores the results of the phase and returns the updated accumulators:
  /// those of its reductions, then those along columns in a kernel of rows.
  /// Lanes outside `mask` keep theirs.
  LaneValues finishStep(const LoopPhase &phase, const Position &position,
                        mlir::ValueRange carried, mlir::Value mask);
  /// Evaluates and finishes a step.
  LaneValues emitStep(const LoopPhase &phase, const Position &position,
                      mlir::ValueRange carried, mlir::Value mask);
  /// Combines with the init operand, unless that is the identity.
  mlir::Value withInit(const Reduction &reduction, mlir::Value value,
                       const Position &position);

  const Kernel &kernel;
  KernelLoops loops;
  mlir::Location loc;
  BodyEmitter body;
  mlir::LLVM::LLVMFuncOp function;
  Scope uniform;
  llvm::SmallVector<mlir::Value> resultBuffers;
};

/// Returns the bits of the widest float that the kernel computes with: 32 or
/// 64.
unsigned widestFloat(const Kernel &kernel);

} // namespace tessera

#endif // TESSERA_LIB_CODEGEN_KERNELS_KERNELEMITTER_H
