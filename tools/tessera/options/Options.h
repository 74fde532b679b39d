//===- Options.h - what the command line says -------------------*- C++ -*-===//
// Plain data between the parser of the command line, which knows no MLIR, and
// the commands, which know no parser. 0 and "" mean: not given.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_TESSERA_OPTIONS_OPTIONS_H
#define TESSERA_TOOLS_TESSERA_OPTIONS_OPTIONS_H

#include "tools/tessera/options/LaunchEnvironment.h"
#include <cstdint>
#include <string>
#include <vector>

namespace tessera {

enum class Command { Doctor, Import, Compile, Report, Verify, Train };

struct DriverOptions {
  Command command = Command::Doctor;
  std::string model;  ///< config.json, directory, .mlir or .tsr.
  std::string output; ///< -o; "" or "-": standard output.
  bool json = false;

  // The plan.
  std::string mesh;      ///< "dp=2,tp=2", aliases merged in; "": serial.
  int64_t meshRanks = 1; ///< Product of the mesh's sizes.
  int64_t ranks = 0;     ///< The most that a run may start.
  bool sequenceParallel = false;
  std::string contextParallel = "all-gather";
  int64_t zero = 0;                  ///< Stage, 0 to 3.
  int64_t layoutInvariant = 0;       ///< Chunks of a sum; 0: any order.
  std::string dpSync = "all-reduce"; ///< Or "parameter-server".
  int64_t sequence = 0, batch = 0, microBatches = 0;
  int64_t targetSequence = 0; ///< Of an encoder-decoder model; 0: sequence.
  std::string scheduleSvg;    ///< report: a file for the picture.
  std::string schedule;       ///< Of pp; "": none is needed.
  int64_t virtualStages = 1;
  std::vector<int64_t> stages; ///< Layers of each chunk of pp; empty: by flops.
  std::string precision = "f32", cpu = "native", device = "cpu", arch = "sm_90";
  std::string recompute = "none";
  int64_t recomputeLayers = -1; ///< -1: all.
  int64_t memoryLimit = 0;      ///< Bytes per rank; 0: none.
  int64_t bucketBytes = int64_t(25) << 20;
  bool overlap = true;       ///< Of communication with computation.
  bool gemmEpilogues = true; ///< With cuda: GELU and sums in products.
  std::string dumpDir, reproducer;
  /// The first option given that a compiled artifact has fixed.
  std::string fixedByArtifact;

  // The optimizer and its schedule.
  double lr = 1e-3, minLr = 1e-4, weightDecay = 0.1, clip = 1.0;
  double beta1 = 0.9, beta2 = 0.95;
  int64_t warmupSteps = 10, steps = 100;
  bool scheduleGiven = false; ///< Overrides an artifact's own schedule.

  // Training.
  std::vector<std::string> data;
  std::string dataFormat = "auto", communicator;
  std::string checkpointDir, resumeDir, weights, log, trace;
  bool resumes = false;
  Launch launch; ///< One of several processes, or alone.
  int32_t rendezvousTimeoutMs = 0;
  int64_t saveEvery = 0, seed = 0;
  int32_t threads = 0, timeoutMs = 0;

  bool isArtifact() const { return modelEndsWith(".tsr"); }
  /// An nn program, whose sizes are fixed, rather than a config.
  bool isProgram() const {
    return modelEndsWith(".mlir") || modelEndsWith(".mlirbc");
  }

private:
  bool modelEndsWith(const std::string &extension) const {
    return model.size() > extension.size() &&
           model.compare(model.size() - extension.size(), std::string::npos,
                         extension) == 0;
  }
};

/// Parses and checks. Returns true to go on; otherwise the program ends with
/// `exitCode` (help and errors are printed already).
bool parseCommandLine(int argc, char **argv, DriverOptions &options,
                      int &exitCode);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_OPTIONS_OPTIONS_H
