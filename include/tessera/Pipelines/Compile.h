//===- Compile.h - from an nn module to an artifact -------------*- C++ -*-===//
// The story of the compiler, as one call. `tessera compile`, `report`, `verify`
// and `train` all go through it.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_PIPELINES_COMPILE_H
#define TESSERA_PIPELINES_COMPILE_H

#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace tessera {

struct CompileOptions {
  std::string mesh;              ///< "dp=2,tp=2"; empty: serial.
  std::string precision = "f32"; ///< "f32", "bf16" (mixed) or "f64".
  /// "cpu", or "cuda" for kernels of CUDA architecture `arch`.
  std::string device = "cpu", arch = "sm_90";
  /// LLVM's name of the CPU; with "cuda" that of the host program.
  std::string cpu = "native";
  int64_t microBatches = 1; ///< Per optimizer step.
  /// What backward computes again instead of keeping it: "none", "selective",
  /// "full", or "auto" for the least that fits into `memoryLimit`.
  std::string recompute = "none";
  int64_t recomputeLayers = -1; ///< "full": the first so many; -1: all.
  int64_t memoryLimit = 0;      ///< Bytes of a rank's arena; 0: no limit.
  bool sequenceParallel = false;
  /// Attention over "cp": "all-gather" of keys and values, "ulysses" or
  /// "ring".
  std::string contextParallel = "all-gather";
  int64_t zero = 0; ///< Stage of ZeRO over "dp", 0 to 3.
  /// Sums are trees of so many chunks, so that every mesh gives the same bits;
  /// a power of 2. 0: in any order.
  int64_t layoutInvariant = 0;
  /// Over "dp": "all-reduce" of gradients, or "parameter-server": each
  /// parameter is updated by one rank.
  std::string dpSync = "all-reduce";
  /// Most bytes of gradients that are reduced together; 0: no buckets.
  int64_t bucketBytes = int64_t(25) << 20;
  /// Collectives are started early and waited for late.
  bool overlap = true;
  /// With "cuda": matrix products apply GELU and sum bias gradients, as far as
  /// the library can.
  bool gemmEpilogues = true;
  /// Of mesh axis pp: "gpipe", "1f1b", "interleaved" or "zero-bubble".
  std::string schedule = "1f1b";
  int64_t virtualStages = 1; ///< Chunks per stage of pp.
  /// Layers of each chunk; empty: balanced by flops.
  std::vector<int64_t> stageLayers;
  double beta1 = 0.9, beta2 = 0.95, epsilon = 1e-8;
  double weightDecay = 0.1; ///< Decoupled; none on biases and norms.
  double clip = 1.0;        ///< Largest gradient norm; 0: none.
  /// The default schedule, stored in the artifact (runtime/tessera.h).
  double lr = 1e-3, minLr = 1e-4;
  int64_t warmupSteps = 0, totalSteps = 0;
  /// Give every value of the program its own buffer, named in the artifact as
  /// role "value", so that `verify` can compare it. Larger and slower.
  bool keepValues = false;
  /// CUDA kernels as code of the CPU: for tests, which bring an emulator and,
  /// for device "cuda", a device.
  bool emulateGrid = false;
  std::string dumpDir; ///< If set: IR after each pass, numbered files.
  /// If set: a pass that fails leaves its input here. Else only one that
  /// crashes does, in a temporary file.
  std::string reproducerPath;
};

/// Loads every dialect the compiler needs.
void registerCompilerDialects(mlir::DialectRegistry &registry);
/// Registers every pass and pipeline, for tessera-opt.
void registerCompilerPasses();

/// The first half: distributes, differentiates and adds the optimizer, in
/// place. The module then holds the typed program `@step`.
mlir::LogicalResult distributeToStep(mlir::ModuleOp module,
                                     const CompileOptions &options);

/// Checks `memoryLimit` and replaces "auto" by what it chooses; the module,
/// which is not distributed yet, stays. An error names the limit, what the plan
/// needs and what would fit.
mlir::LogicalResult fitMemory(mlir::ModuleOp module, CompileOptions &options);

/// Distributes, differentiates and lowers `module` (function @loss, attribute
/// `nn.model`) in place and writes the artifact. Errors are diagnostics.
mlir::LogicalResult compileToArtifact(mlir::ModuleOp module,
                                      const CompileOptions &options,
                                      llvm::StringRef path);

} // namespace tessera

#endif // TESSERA_PIPELINES_COMPILE_H
