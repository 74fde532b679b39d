//===- Pipeline.h - the passes of the compiler, in order --------*- C++ -*-===//
// The story of the compiler; each stage is also a pipeline of tessera-opt.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_PIPELINES_PIPELINE_H
#define TESSERA_PIPELINES_PIPELINE_H

#include "mlir/Pass/PassManager.h"
#include "tessera/Options/PlanOptions.h"

namespace tessera {

/// nn -> typed training step: distribute, differentiate, micro-batch, optimize;
/// or, without the last three, typed programs for inference; or both.
void buildDistributePipeline(mlir::OpPassManager &passes,
                             const PlanOptions &plan);
/// Builds the passes of its element types: nn -> nn.
void buildPrecisionPipeline(mlir::OpPassManager &passes,
                            const PlanOptions &plan);
/// nn -> serial programs for inference, with the lanes of the plan's mesh.
void buildSerialGenerationPipeline(mlir::OpPassManager &passes,
                                   const PlanOptions &plan);
/// Typed training step -> rt program of one rank and its kernels.
void buildLowerPipeline(mlir::OpPassManager &passes, const PlanOptions &plan);
/// Builds its second half: nn ops on local tensors -> rt program.
void buildLowerLocalPipeline(mlir::OpPassManager &passes,
                             const PlanOptions &plan);
/// rt program -> rt program with fewer and earlier collectives.
void buildCommunicatePipeline(mlir::OpPassManager &passes,
                              const PlanOptions &plan);
/// rt program -> rt program with a memory plan, checked.
void buildMemoryPipeline(mlir::OpPassManager &passes, const PlanOptions &plan);
/// Planned program -> metadata and LLVM dialect.
void buildCodePipeline(mlir::OpPassManager &passes, const PlanOptions &plan);
/// Builds all of it without code: the last pass attaches the metadata.
void buildMetadataPipeline(mlir::OpPassManager &passes,
                           const PlanOptions &plan);
/// Builds the whole pipeline, from the serial program to code.
void buildCompilePipeline(mlir::OpPassManager &passes, const PlanOptions &plan);

} // namespace tessera

#endif // TESSERA_PIPELINES_PIPELINE_H
