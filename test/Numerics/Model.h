//===- Model.h - a model of a test, compiled --------------------*- C++ -*-===//
// Configs as text, compiled to artifacts in a directory that lives as long as
// the test's process.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TEST_NUMERICS_MODEL_H
#define TESSERA_TEST_NUMERICS_MODEL_H

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tessera::test {

/// A way to split the work.
struct Strategy {
  const char *mesh = ""; ///< Empty: serial.
  bool sequenceParallel = false;
  int64_t zero = 0; ///< Stage.
  const char *contextParallel = "all-gather";
  const char *dpSync = "all-reduce";
};

/// A way to compile a config.
struct Build {
  Build() = default;
  explicit Build(const Strategy &strategy)
      : mesh(strategy.mesh), sequenceParallel(strategy.sequenceParallel),
        zero(strategy.zero), contextParallel(strategy.contextParallel),
        dpSync(strategy.dpSync) {}

  std::string mesh; ///< Empty: serial.
  bool sequenceParallel = false;
  int64_t zero = 0;
  std::string contextParallel = "all-gather";
  std::string dpSync = "all-reduce";
  std::string schedule = "1f1b"; ///< The schedule of pp.
  int64_t virtualStages = 1;
  std::string precision = "f64"; ///< "f64", "f32" or "bf16".
  int64_t batch = 8;
  int64_t microBatches = 1;
  int64_t sequence = 0; ///< 0: n_positions.
  /// Target tokens of an encoder-decoder model; 0: sequence.
  int64_t target = 0;
  bool ignoresLabels = false, documentMask = false, paddingMask = false;
  double clip = 1.0; ///< 0: no clipping.
  bool keepValues = false;
  bool decomposesLayers = false; ///< Attention, norms, rotations as formulas.
  bool evaluation = false;
  int64_t bucketBytes = int64_t(25) << 20;
  bool overlap = true;
  std::string recompute = "none"; ///< The flag's value.
  int64_t recomputeLayers = -1;
  int64_t layoutInvariant = 0; ///< Chunks of sums of a fixed order.
  bool emulateGrid = false;    ///< CUDA kernels, run by
                               ///< test/Codegen/Kernels/Gpu/GridEmulator.cpp.
  std::string device = "cpu";
  bool generates = false;   ///< Instead of training; `sequence` is the length.
  int64_t maxBatch = 4;     ///< Requests, over all ranks.
  int64_t prefillChunk = 8; ///< Tokens of prompts in a step of a lane.
  std::string lora, freeze; ///< The flags' values.
  /// Flags of the plan and what they are given: "optimizer", "muon".
  std::vector<std::pair<std::string, std::string>> flags;
};

/// Returns a new path in the process's scratch directory, which is removed at
/// its end.
std::string scratchPath(const std::string &name);
/// Returns a new file with this text.
std::string scratchFile(const std::string &name, const std::string &text);

/// Returns the config of two layers, 32 wide, with a vocabulary that no axis
/// divides.
std::string smallModelWithDropout(int64_t vocabulary = 61);

/// Returns the path of the artifact; "" with a failed expectation if it does
/// not compile. A program that a test of this process has compiled is not
/// compiled again.
std::string compileModel(const std::string &configPath, const Build &build);

} // namespace tessera::test

#endif // TESSERA_TEST_NUMERICS_MODEL_H
