//===- Pipeline.h - the passes of the compiler, in order --------*- C++ -*-===//
// The story of the compiler; each stage is also a pipeline of tessera-opt.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_PIPELINES_PIPELINE_H
#define TESSERA_PIPELINES_PIPELINE_H

#include "mlir/Pass/PassManager.h"
#include "tessera/Options/PlanOptions.h"

namespace tessera {

/// Reports why a plan is refused (PlanRules.h) and returns failure, as the
/// handlers of MLIR's textual pipelines do. A pipeline that is refused gets no
/// passes.
using RefusePlan =
    llvm::function_ref<mlir::LogicalResult(const llvm::Twine &why)>;

/// nn -> typed training step: distribute, differentiate, micro-batch, optimize;
/// or, without the last three, typed programs for inference; or both.
mlir::LogicalResult buildDistributePipeline(mlir::OpPassManager &passes,
                                            const PlanOptions &plan,
                                            RefusePlan refuse);
/// Builds the passes of its element types: nn -> nn.
void buildPrecisionPipeline(mlir::OpPassManager &passes,
                            const PlanOptions &plan);
/// nn -> typed training step of one rank, whose loop and updates are those of
/// the plan: erasing the distribution from the plan's own step gives this one.
void buildSerialStepPipeline(mlir::OpPassManager &passes,
                             const PlanOptions &plan);
/// nn -> serial programs for inference, with the lanes of the plan's mesh.
void buildSerialGenerationPipeline(mlir::OpPassManager &passes,
                                   const PlanOptions &plan);
/// Typed training step -> rt program of one rank and its kernels.
mlir::LogicalResult buildLowerPipeline(mlir::OpPassManager &passes,
                                       const PlanOptions &plan,
                                       RefusePlan refuse);
/// Builds its second half: nn ops on local tensors -> rt program. Like the
/// other parts that return nothing, it takes a plan that is not refused.
void buildLowerLocalPipeline(mlir::OpPassManager &passes,
                             const PlanOptions &plan);
/// rt program -> rt program with fewer and earlier collectives.
mlir::LogicalResult buildCommunicatePipeline(mlir::OpPassManager &passes,
                                             const PlanOptions &plan,
                                             RefusePlan refuse);
/// rt program -> rt program with a memory plan, checked.
mlir::LogicalResult buildMemoryPipeline(mlir::OpPassManager &passes,
                                        const PlanOptions &plan,
                                        RefusePlan refuse);
/// Planned program -> metadata and LLVM dialect.
mlir::LogicalResult buildCodePipeline(mlir::OpPassManager &passes,
                                      const PlanOptions &plan,
                                      RefusePlan refuse);
/// Builds all of it without code: the last pass attaches the metadata.
mlir::LogicalResult buildMetadataPipeline(mlir::OpPassManager &passes,
                                          const PlanOptions &plan,
                                          RefusePlan refuse);
/// Builds the whole pipeline, from the serial program to code.
mlir::LogicalResult buildCompilePipeline(mlir::OpPassManager &passes,
                                         const PlanOptions &plan,
                                         RefusePlan refuse);

} // namespace tessera

#endif // TESSERA_PIPELINES_PIPELINE_H
