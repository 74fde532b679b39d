//===- Pipeline.h - the passes of the compiler, in order --------*- C++ -*-===//
// The story of the compiler; each stage is also a pipeline of tessera-opt.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_PIPELINES_PIPELINE_H
#define TESSERA_PIPELINES_PIPELINE_H

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace tessera {

/// What the stages can be told; options of every named pipeline.
struct PipelineOptions : mlir::PassPipelineOptions<PipelineOptions> {
  Option<std::string> mesh{*this, "mesh",
                           llvm::cl::desc("Axes and sizes, e.g. dp=2,tp=4"),
                           llvm::cl::init("")};
  Option<std::string> precision{
      *this, "precision",
      llvm::cl::desc("bf16: matrix products in bf16; else as the module says"),
      llvm::cl::init("f32")};
  Option<int64_t> microBatches{*this, "micro-batches",
                               llvm::cl::desc("Micro-batches per step"),
                               llvm::cl::init(1)};
  Option<std::string> recompute{
      *this, "recompute",
      llvm::cl::desc("Computed again in backward: none, selective, full"),
      llvm::cl::init("none")};
  Option<int64_t> recomputeLayers{*this, "recompute-layers",
                                  llvm::cl::desc("full: of so many layers"),
                                  llvm::cl::init(-1)};
  Option<bool> sequenceParallel{
      *this, "sequence-parallel",
      llvm::cl::desc("Split activations between blocks over tp"),
      llvm::cl::init(false)};
  Option<std::string> contextParallel{
      *this, "context-parallel",
      llvm::cl::desc("Attention over cp: all-gather, ulysses, ring"),
      llvm::cl::init("all-gather")};
  Option<int64_t> zero{*this, "zero", llvm::cl::desc("Stage of ZeRO, 0 to 3"),
                       llvm::cl::init(0)};
  Option<int64_t> layoutInvariant{
      *this, "layout-invariant",
      llvm::cl::desc("Chunks of sums that give the same bits on every mesh; 0: "
                     "sums in any order"),
      llvm::cl::init(0)};
  Option<bool> parameterServer{
      *this, "parameter-server",
      llvm::cl::desc("Each parameter is updated by one rank of dp"),
      llvm::cl::init(false)};
  Option<int64_t> bucketBytes{
      *this, "bucket-bytes",
      llvm::cl::desc("Most bytes that one all-reduce joins; 0: none"),
      llvm::cl::init(int64_t(25) << 20)};
  Option<bool> overlap{*this, "overlap",
                       llvm::cl::desc("Collectives start early, end late"),
                       llvm::cl::init(true)};
  Option<bool> gemmEpilogues{
      *this, "gemm-epilogues",
      llvm::cl::desc("cuda: products apply GELU and sum bias gradients"),
      llvm::cl::init(true)};
  Option<std::string> schedule{
      *this, "schedule",
      llvm::cl::desc("Of pp: gpipe, 1f1b, interleaved, zero-bubble"),
      llvm::cl::init("1f1b")};
  Option<int64_t> virtualStages{*this, "virtual-stages",
                                llvm::cl::desc("Chunks per stage of pp"),
                                llvm::cl::init(1)};
  ListOption<int64_t> stageLayers{*this, "stage-layers",
                                  llvm::cl::desc("Layers of each chunk of pp")};
  Option<double> beta1{*this, "beta1", llvm::cl::init(0.9)};
  Option<double> beta2{*this, "beta2", llvm::cl::init(0.95)};
  Option<double> epsilon{*this, "epsilon", llvm::cl::init(1e-8)};
  Option<double> weightDecay{*this, "weight-decay", llvm::cl::init(0.1)};
  Option<double> clip{*this, "clip", llvm::cl::init(1.0)};
  Option<bool> keepValues{*this, "keep",
                          llvm::cl::desc("Keep every value for comparison"),
                          llvm::cl::init(false)};
  Option<std::string> device{*this, "device",
                             llvm::cl::desc("What kernels are for: cpu, cuda"),
                             llvm::cl::init("cpu")};
  Option<bool> emulate{*this, "emulate",
                       llvm::cl::desc("Host code of CUDA kernels, for tests"),
                       llvm::cl::init(false)};
  Option<bool> emulateLaunches{
      *this, "emulate-launches",
      llvm::cl::desc("With emulate: a device's launches, for tests"),
      llvm::cl::init(false)};
  Option<unsigned> vectorBits{*this, "vector-bits",
                              llvm::cl::desc("Width of a vector register"),
                              llvm::cl::init(512)};
};

/// nn -> typed training step: distribute, differentiate, micro-batch, optimize.
void buildDistributePipeline(mlir::OpPassManager &passes,
                             const PipelineOptions &options);
/// Typed training step -> rt program of one rank and its kernels.
void buildLowerPipeline(mlir::OpPassManager &passes,
                        const PipelineOptions &options);
/// Its second half: nn ops on local tensors -> rt program.
void buildLowerLocalPipeline(mlir::OpPassManager &passes,
                             const PipelineOptions &options);
/// rt program -> rt program with fewer and earlier collectives.
void buildCommunicatePipeline(mlir::OpPassManager &passes,
                              const PipelineOptions &options);
/// rt program -> rt program with a memory plan, checked.
void buildMemoryPipeline(mlir::OpPassManager &passes,
                         const PipelineOptions &options);
/// Planned program -> metadata and LLVM dialect.
void buildCodePipeline(mlir::OpPassManager &passes,
                       const PipelineOptions &options);
/// All of it.
void buildCompilePipeline(mlir::OpPassManager &passes,
                          const PipelineOptions &options);

} // namespace tessera

#endif // TESSERA_PIPELINES_PIPELINE_H
