//===- Passes.h - passes from kernels to the LLVM dialect -------*- C++ -*-===//
// The passes of Passes.td, and the pipeline that lowers kernels and everything
// around them entirely to the LLVM dialect.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_CODEGEN_KERNELS_PASSES_H
#define TESSERA_CODEGEN_KERNELS_PASSES_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassOptions.h"

namespace tessera {

#define GEN_PASS_DECL
#include "tessera/Codegen/Kernels/Passes.h.inc"

struct KernelToLLVMPipelineOptions
    : public mlir::PassPipelineOptions<KernelToLLVMPipelineOptions> {
  Option<unsigned> vectorBits{
      *this, "vector-bits",
      llvm::cl::desc("Width of a vector register: 128, 256 or 512"),
      llvm::cl::init(512)};
  Option<bool> cuda{*this, "cuda",
                    llvm::cl::desc("Make CUDA kernels instead of CPU code"),
                    llvm::cl::init(false)};
  Option<bool> emulate{
      *this, "emulate",
      llvm::cl::desc("Make host code of CUDA kernels, for the emulator"),
      llvm::cl::init(false)};
};

/// Builds the passes from kernels to ABI functions, then from vector, scf,
/// arith, math, index, cf and func to the LLVM dialect, on the whole module.
void buildKernelToLLVMPipeline(mlir::OpPassManager &manager,
                               const KernelToLLVMPipelineOptions &options);

/// Registers the passes, and the pipeline as `kernel-to-llvm-pipeline`.
void registerKernelToLLVMPasses();

} // namespace tessera

#endif // TESSERA_CODEGEN_KERNELS_PASSES_H
