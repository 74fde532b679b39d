//===- Pipeline.cpp - kernels and host code to the LLVM dialect -----------===//

#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "tessera/Codegen/Kernels/Passes.h"

using namespace mlir;

namespace tessera {

#define GEN_PASS_DEF_LOWERKERNELSPASS
#include "tessera/Codegen/Kernels/Passes.h.inc"

namespace {
#define GEN_PASS_REGISTRATION
#include "tessera/Codegen/Kernels/Passes.h.inc"
} // namespace

/// Widens operands and rounds results of bf16, in which no vector unit
/// computes.
static void addBFloat16Lowering(OpPassManager &kernels) {
  arith::ArithEmulateUnsupportedFloatsOptions emulate;
  emulate.sourceTypeStrs = {"bf16"};
  kernels.addPass(arith::createArithEmulateUnsupportedFloats(emulate));
  arith::ArithExpandOpsPassOptions expand;
  expand.includeBf16 = true;
  kernels.addPass(arith::createArithExpandOpsPass(expand));
}

/// Kernels are functions of the LLVM dialect that hold ops of others.
static void addLowering(OpPassManager &manager) {
  OpPassManager &kernels = manager.nest<LLVM::LLVMFuncOp>();
  kernels.addPass(createExpandKernelMathPass());
  addBFloat16Lowering(kernels);
  kernels.addPass(createCanonicalizerPass());
  kernels.addPass(createCSEPass());
  manager.addPass(createConvertKernelOpsToLLVMPass());
  manager.addPass(createReconcileUnrealizedCastsPass());
}

namespace {
struct LowerKernelsPass : impl::LowerKernelsPassBase<LowerKernelsPass> {
  void getDependentDialects(DialectRegistry &registry) const override {
    OpPassManager pipeline(ModuleOp::getOperationName());
    addLowering(pipeline);
    pipeline.getDependentDialects(registry);
  }

  void runOnOperation() override {
    Block *body = getOperation().getBody();
    OpBuilder builder = OpBuilder::atBlockEnd(body);
    auto kernels = ModuleOp::create(builder, getOperation().getLoc());
    for (Operation &op : llvm::make_early_inc_range(body->without_terminator()))
      if (isa_and_nonnull<LLVM::LLVMDialect>(op.getDialect()))
        op.moveBefore(kernels.getBody(), kernels.getBody()->end());
    // Verified after this pass, and between the passes of
    // kernel-to-llvm-pipeline: here that would take a third of the time.
    PassManager pipeline(&getContext(), ModuleOp::getOperationName());
    pipeline.enableVerifier(false);
    addLowering(pipeline);
    if (failed(pipeline.run(kernels)))
      return signalPassFailure();
    body->getOperations().splice(body->end(),
                                 kernels.getBody()->getOperations());
    kernels.erase();
  }
};
} // namespace

void buildKernelToLLVMPipeline(OpPassManager &manager,
                               const KernelToLLVMPipelineOptions &options) {
  if (options.cuda)
    manager.addPass(createConvertKernelToNVVMPass({options.emulate}));
  else
    manager.addPass(createConvertKernelToLLVMPass({options.vectorBits}));
  addLowering(manager);
  if (options.emulate)
    manager.addPass(createEmulateGridPass());
}

void registerKernelToLLVMPasses() {
  registerKernelCodegenPasses();
  PassPipelineRegistration<KernelToLLVMPipelineOptions>(
      "kernel-to-llvm-pipeline",
      "Lower kernels and host code entirely to the LLVM dialect",
      buildKernelToLLVMPipeline);
}

} // namespace tessera
