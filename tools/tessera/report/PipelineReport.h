//===- PipelineReport.h - the stages of an artifact -------------*- C++ -*-===//
// Reads the schedule of docs/Artifact.md's "pipeline" and simulates it.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_TESSERA_REPORT_PIPELINEREPORT_H
#define TESSERA_TOOLS_TESSERA_REPORT_PIPELINEREPORT_H

#include "tessera/Schedule/Simulation.h"
#include "tools/tessera/report/Windows.h"
#include "llvm/Support/JSON.h"

namespace tessera {

struct PipelineReport {
  /// What one rank of the stage holds and does.
  struct Stage {
    std::string chunks; ///< "embedding - h.1.mlp, h.4.attn - h.5.mlp".
    int64_t parameters = 0, arenaBytes = 0, bytesSent = 0;
    double flops = 0;
  };

  /// False where the metadata has no pipeline, or none that can be simulated.
  bool read(const llvm::json::Object &root);
  std::string text(size_t width) const;
  llvm::json::Object json() const;
  /// Rows of requests go through the stages, which work in turn.
  bool isInTurn() const { return schedule.stages.empty(); }
  /// The schedule as SVG, its times by the flops of the chunks; there is none
  /// where stages work in turn.
  std::string picture() const;

  /// Parts of the model, as ops name them.
  struct Chunk {
    int64_t stage = 0;
    std::string first, last; ///< "h.4.attn", "h.5.mlp".
  };

  pipeline::PipelineSchedule schedule;
  std::vector<Chunk> chunks;
  pipeline::Simulation alike;   ///< All chunks take the same time.
  pipeline::Simulation byFlops; ///< A chunk's time is its flops.
  std::vector<Stage> stages;
  std::vector<ProgramTasks> tasks; ///< By stage.

private:
  bool readSchedule(const llvm::json::Object &pipeline);
  bool readTasks(const llvm::json::Object &pipeline);
  bool simulateSchedule(const llvm::json::Object &pipeline);
  void readStages(const llvm::json::Object &root);
  llvm::json::Array timesJson() const;
};

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_REPORT_PIPELINEREPORT_H
