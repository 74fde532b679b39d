//===- Report.h - what an artifact's metadata says of its program ---------===//
// Read from docs/Artifact.md's JSON, but for the signer: nothing is run or
// allocated.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_REPORT_REPORT_H
#define TESSERA_REPORT_REPORT_H

#include "tessera/Options/PlanOptions.h"
#include "tessera/Program/Program.h"
#include "tessera/Report/CollectiveReport.h"
#include "tessera/Report/OwnersReport.h"
#include "tessera/Report/PipelineReport.h"
#include "tessera/Report/TensorReport.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/JSON.h"
#include <optional>
#include <string>

namespace tessera {

struct Report {
  /// Fails where the metadata is unusable.
  llvm::Error read(llvm::StringRef metadata);
  /// Reads metadata like `read`, but no calls: flops and communication stay
  /// empty. That takes half the time.
  llvm::Error readWithoutCalls(llvm::StringRef metadata);
  /// "gpt2, dp=2,tp=2 (4 ranks), 4.8 M parameters, 61.2 MiB per rank".
  std::string headline() const;
  /// In lines of `width` characters, as far as names allow.
  std::string text(size_t width) const;
  llvm::json::Value json() const;

  program::Program program;
  int64_t int8Matrices = 0; ///< Parameters with a scale for each channel.
  int64_t hidden = 0;       ///< An activation has it; 0: no config says it.
  int64_t parameters = 0, parametersOfRank = 0;
  int64_t trainedParameters = 0; ///< Sum over all ranks; the others are frozen.
  bool hasAdapters = false;      ///< It trains adapters of LoRA alone.
  bool hasExperts = false;       ///< Rows of tokens are routed.
  /// Flops per optimizer step of a rank, by program (of a stage, or of an
  /// owner), and of these forward work done again.
  std::vector<double> flops, recomputed;
  std::string recompute; ///< "selective", "full, first 3 layers".
  llvm::SmallVector<std::pair<std::string, int64_t>>
      memory; ///< Bytes of kinds.
  TensorReport tensors;
  std::vector<CollectiveGroup> collectives;
  std::optional<PipelineReport> pipeline; ///< There are stages.
  std::optional<OwnersReport> owners;     ///< Ranks own parameters.
  /// For a .tsr file: the fingerprint of the key that signed it, "": none.
  std::optional<std::string> signer;

  LearningRateOptions learningRate() const; ///< It is as compiled.
  std::string processor() const;
  int64_t ranks() const { return program.mesh.ranks(); }
  /// Returns how many an artifact for generation runs at a time, on all ranks.
  int64_t requests() const { return program.model.lanes * program.model.slots; }
  int64_t programs() const { return static_cast<int64_t>(flops.size()); }
  size_t busiest() const; ///< The program with most flops.
  /// Returns the flops of an optimizer step, over all ranks, without work that
  /// is done again.
  double modelFlops() const;

private:
  void countTensors();
  void listMemory();
  void addCall(const program::Call &call, std::vector<ProgramWork> &work);
  llvm::Error addCalls(llvm::StringRef metadata);
  std::string ofRank(const std::string &most, size_t program,
                     bool isAlike) const;
  std::string parametersText() const;
  std::string trainedText() const;
  std::string flopsText() const;
  std::string stepText() const;
  std::string evaluationText() const;
  std::string causalWorkText() const;
  std::string weightsText() const;
  std::string memoryText(size_t width) const;
  std::string collectivesText(size_t width) const;
};

} // namespace tessera

#endif // TESSERA_REPORT_REPORT_H
