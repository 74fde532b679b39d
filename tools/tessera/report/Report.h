//===- Report.h - what an artifact's metadata says of its program ---------===//
// Read from docs/Artifact.md's JSON, but for the signer: nothing is run or
// allocated.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_TESSERA_REPORT_REPORT_H
#define TESSERA_TOOLS_TESSERA_REPORT_REPORT_H

#include "tools/tessera/report/OwnersReport.h"
#include "tools/tessera/report/PipelineReport.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/JSON.h"
#include <optional>
#include <set>
#include <string>

namespace tessera {

/// Equal collectives of equal layers.
struct CollectiveGroup {
  std::string kind, axes, place, phase, reason;
  std::set<int64_t> layers; ///< Empty: not in a layer.
  int64_t calls = 0;        ///< Per optimizer step, all layers.
  int64_t bytesOfCall = 0;  ///< The buffer, on each rank.
  /// Asynchronous calls, and what is computed beside all of them.
  int64_t asyncCalls = 0, besideOps = 0;
  double besideFlops = 0;
  int64_t bytesOfStep() const { return calls * bytesOfCall; }
  /// "h.0-5.mlp".
  std::string where() const;
  /// "6 ops, 1.2 G flops beside"; "-" if every call blocks.
  std::string overlap() const;
};

struct Report {
  /// Prints an error and returns false where the metadata is unusable.
  bool read(llvm::StringRef metadata);
  /// "gpt2, dp=2,tp=2 (4 ranks), 4.8 M parameters, 61.2 MiB per rank".
  std::string headline() const;
  std::string text() const;
  llvm::json::Value json() const;

  std::string family, mesh, precision, device, processor;
  int64_t ranks = 1, layers = 0, vocabulary = 0, sequence = 0, batch = 0;
  int64_t target = 0; ///< Tokens of a target; 0: it is no encoder-decoder.
  int64_t microBatches = 1;
  int64_t parameters = 0, parametersOfRank = 0;
  /// Parts of causal attention, by slice of a sequence that ranks share.
  std::vector<double> causalWork;
  double flopsOfRank = 0;     ///< Per optimizer step; 0: not recorded. Of the
                              ///< busiest stage.
  double flopsOfAll = 0;      ///< All ranks.
  double recomputedFlops = 0; ///< Of these, forward work done again.
  std::string recompute;      ///< "selective", "full, first 3 layers".
  int64_t arenaBytes = 0;
  llvm::SmallVector<std::pair<std::string, int64_t>> memory;
  llvm::SmallVector<CollectiveGroup> collectives;
  std::optional<PipelineReport> pipeline; ///< Where there are stages.
  std::optional<OwnersReport> owners;     ///< Where ranks own parameters.
  /// Of a .tsr file: the fingerprint of the key that signed it, "": none.
  std::optional<std::string> signer;

private:
  void readModel(const llvm::json::Object &root);
  void readTensors(const llvm::json::Object &root);
  void readArena(const llvm::json::Object &root);
  void readCollective(const llvm::json::Object &op);
  llvm::Error readOps(llvm::ArrayRef<llvm::StringRef> ops);
  void readCausalWork(const llvm::json::Object &root);
  std::string causalWorkText() const;
  std::string collectivesText() const;
};

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_REPORT_REPORT_H
