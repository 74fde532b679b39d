//===- Report.h - what an artifact's metadata says of its program ---------===//
// Read from docs/Artifact.md's JSON, but for the signer: nothing is run or
// allocated.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_TESSERA_REPORT_REPORT_H
#define TESSERA_TOOLS_TESSERA_REPORT_REPORT_H

#include "tessera/Options/PlanOptions.h"
#include "tools/tessera/report/LayerModes.h"
#include "tools/tessera/report/OwnersReport.h"
#include "tools/tessera/report/PipelineReport.h"
#include "tools/tessera/report/TensorReport.h"
#include "tools/tessera/report/Windows.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/JSON.h"
#include <map>
#include <optional>
#include <set>
#include <string>

namespace tessera {

/// Equal collectives of equal layers, or those of buckets.
struct CollectiveGroup {
  /// `place` has a "#" for the number of the layer or bucket: "h.#.mlp".
  std::string kind, axes, place, phase, reason;
  bool isBucket = false;
  std::set<int64_t> numbers; ///< Of layers or buckets; empty: in none.
  int64_t calls = 0;         ///< Per optimizer step, of all numbers.
  int64_t tensors = 0;       ///< That these calls gather or scatter.
  int64_t bytesOfCall = 0;   ///< The buffer, on each rank; of the largest.
  int64_t leastBytes = 0;    ///< Of the smallest call.
  int64_t bytesOfStep = 0;   ///< Of all calls.
  int64_t asyncCalls = 0;    ///< That are started early and waited for late.
  std::map<int64_t, std::vector<Window>> windows; ///< Of these, by stage.
  /// What a rank computes beside them; with stages, that of the busiest.
  Work beside;
  bool isAlike(const CollectiveGroup &other) const;
  void add(const CollectiveGroup &other);
  /// "h.0-5.mlp".
  std::string where() const;
};

/// The program that measures the loss of a batch.
struct EvaluationReport {
  double flops = 0; ///< Of the busiest rank.
  int64_t adds = 0; ///< Bytes that a rank's arena is larger for it.
};

/// What an artifact for generation runs at a time.
struct GenerationReport {
  int64_t requests = 0, length = 0,
          chunk = 0;      ///< Of all ranks, tokens, tokens.
  double flops = 0;       ///< Of a rank, in a step with a chunk of prompts.
  int64_t candidates = 0; ///< That a step leaves of logits; 0: all logits.
};

/// What an artifact that encodes runs at a time, beside its batch.
struct EncodingReport {
  int64_t predictions = 0; ///< Positions of a text; 0: there is no head.
};

struct Report {
  /// Prints an error and returns false where the metadata is unusable.
  bool read(llvm::StringRef metadata);
  /// As read, but only what the headline says.
  bool readHeadline(llvm::StringRef metadata);
  /// "gpt2, dp=2,tp=2 (4 ranks), 4.8 M parameters, 61.2 MiB per rank".
  std::string headline() const;
  /// In lines of `width` characters, as far as names allow.
  std::string text(size_t width) const;
  llvm::json::Value json() const;

  std::string family, mesh, precision, device, processor;
  int64_t int8Matrices = 0; ///< Parameters with a scale for each channel.
  int64_t ranks = 1, layers = 0, vocabulary = 0, sequence = 0, batch = 0;
  int64_t hidden = 0; ///< Of an activation; 0: no config says it.
  int64_t target = 0; ///< Tokens of a target; 0: it is no encoder-decoder.
  int64_t microBatches = 1;
  int64_t parameters = 0, parametersOfRank = 0;
  int64_t trainedParameters = 0; ///< Of all ranks; the others are frozen.
  bool hasAdapters = false;      ///< It trains adapters of LoRA alone.
  /// Parts of causal attention, by slice of a sequence that ranks share.
  std::vector<double> causalWork;
  /// Flops per optimizer step of a rank, by program (of a stage, or of an
  /// owner), and of these forward work done again.
  std::vector<double> flops, recomputed;
  std::string recompute; ///< "selective", "full, first 3 layers".
  /// Nothing if the metadata does not say which layers recompute.
  std::optional<LayerModes> layerModes;
  int64_t arenaBytes = 0;
  llvm::SmallVector<std::pair<std::string, int64_t>> memory;
  llvm::json::Object arenaJson; ///< As arenaReport has it.
  TensorReport tensors;
  std::vector<CollectiveGroup> collectives;
  std::optional<EvaluationReport> evaluation; ///< If the artifact has one.
  std::optional<GenerationReport> generation; ///< Of one that does not train.
  std::optional<EncodingReport> encoding;     ///< Of one that only encodes.
  std::optional<PipelineReport> pipeline;     ///< Where there are stages.
  std::optional<OwnersReport> owners;         ///< Where ranks own parameters.
  /// Of a .tsr file: the fingerprint of the key that signed it, "": none.
  std::optional<std::string> signer;

  LearningRateOptions learningRate; ///< As compiled.

  int64_t programs() const { return static_cast<int64_t>(flops.size()); }
  size_t busiest() const; ///< The program with most flops.
  /// Of an optimizer step, over all ranks, without work that is done again.
  double modelFlops() const;

private:
  void readModel(const llvm::json::Object &root);
  void readLearningRate(const llvm::json::Object *optimizer);
  void readTensors(const llvm::json::Object &root);
  void readArena(const llvm::json::Object &root);
  void readCollective(const llvm::json::Object &op, Window window);
  void readOp(const llvm::json::Object &op, std::vector<ProgramWork> &work);
  llvm::Error readOps(llvm::ArrayRef<llvm::StringRef> ops);
  void addWorkBeside(int64_t stage, const WorkInTime &work);
  void readCausalWork(const llvm::json::Object &root);
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

#endif // TESSERA_TOOLS_TESSERA_REPORT_REPORT_H
