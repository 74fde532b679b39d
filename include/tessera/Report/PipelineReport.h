//===- PipelineReport.h - the stages of an artifact -------------*- C++ -*-===//
// Simulates the schedule of a program.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_REPORT_PIPELINEREPORT_H
#define TESSERA_REPORT_PIPELINEREPORT_H

#include "tessera/Program/Program.h"
#include "tessera/Schedule/Simulation.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <optional>

namespace tessera {

struct PipelineReport {
  /// The memory and work of one rank of the stage.
  struct Stage {
    std::string chunks; ///< "embedding - h.1.mlp, h.4.attn - h.5.mlp".
    int64_t parameters = 0, arenaBytes = 0, bytesSent = 0;
    double flops = 0;
  };

  /// Returns nothing if the program has no pipeline, and an error if it has one
  /// that cannot be simulated.
  static llvm::Expected<std::optional<PipelineReport>>
  of(const program::Program &program);
  std::string text(size_t width) const;
  llvm::json::Object json() const;
  /// Rows of requests go through the stages, which work in turn.
  bool isInTurn() const { return schedule.stages.empty(); }
  /// The schedule as SVG, its times by the flops of the chunks; there is none
  /// where stages work in turn.
  std::string picture() const;

  pipeline::PipelineSchedule schedule;
  std::vector<program::Chunk> chunks;
  pipeline::Simulation alike;   ///< All chunks take the same time.
  pipeline::Simulation byFlops; ///< A chunk's time is its flops.
  std::vector<Stage> stages;
  std::vector<program::StageTasks> tasks; ///< Those of each stage.

private:
  bool readSchedule(const program::Pipeline &pipeline);
  void addStages(const program::Program &program);
  bool simulateSchedule();
  llvm::json::Array timesJson() const;
};

} // namespace tessera

#endif // TESSERA_REPORT_PIPELINEREPORT_H
