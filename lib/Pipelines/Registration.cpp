//===- Registration.cpp - dialects, passes and pipelines by name ----------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassRegistry.h"
#include "tessera/Codegen/Calls/Passes.h"
#include "tessera/Codegen/Kernels/Passes.h"
#include "tessera/Communicate/Passes.h"
#include "tessera/Dialect/Dist/Dist.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/RT/RT.h"
#include "tessera/Distribute/Passes.h"
#include "tessera/Lower/Passes.h"
#include "tessera/Memory/Passes.h"
#include "tessera/Partition/Passes.h"
#include "tessera/Pipelines/Compile.h"
#include "tessera/Pipelines/Pipeline.h"
#include "tessera/Target/Passes.h"

using namespace mlir;
using namespace tessera;

void tessera::registerCompilerDialects(DialectRegistry &registry) {
  registry.insert<nn::NNDialect, dist::DistDialect, rt::RTDialect>();
  registry.insert<arith::ArithDialect, cf::ControlFlowDialect,
                  func::FuncDialect, index::IndexDialect, linalg::LinalgDialect,
                  LLVM::LLVMDialect, math::MathDialect, scf::SCFDialect,
                  tensor::TensorDialect, vector::VectorDialect>();
}

void tessera::registerCompilerPasses() {
  registerDistributePasses();
  registerPartitionPasses();
  registerLowerPasses();
  registerCommunicatePasses();
  registerMemoryPasses();
  registerKernelToLLVMPasses();
  registerCallCodegenPasses();
  registerTargetPasses();
  PassPipelineRegistration<PipelineOptions>("tessera-distribute",
                                            "nn to a typed training step",
                                            buildDistributePipeline);
  PassPipelineRegistration<PipelineOptions>(
      "tessera-lower", "A typed training step to the program of one rank",
      buildLowerPipeline);
  PassPipelineRegistration<PipelineOptions>("tessera-communicate",
                                            "Fewer and earlier collectives",
                                            buildCommunicatePipeline);
  PassPipelineRegistration<PipelineOptions>(
      "tessera-memory", "The memory plan of a lowered program, checked",
      buildMemoryPipeline);
  PassPipelineRegistration<PipelineOptions>(
      "tessera-code", "A planned program to the LLVM dialect",
      buildCodePipeline);
  PassPipelineRegistration<PipelineOptions>(
      "tessera-compile", "nn to the LLVM dialect: all stages",
      buildCompilePipeline);
}
