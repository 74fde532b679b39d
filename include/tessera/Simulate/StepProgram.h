//===- StepProgram.h - the calls of a step, for simulation ------*- C++ -*-===//
// The training step of an artifact's program: for each pipeline stage the calls
// of one of its ranks, and the order of its tasks. Ranks that run the same
// program are alike.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_SIMULATE_STEPPROGRAM_H
#define TESSERA_SIMULATE_STEPPROGRAM_H

#include "tessera/Options/PlanOptions.h"
#include "tessera/Program/Program.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <set>
#include <string>
#include <vector>

namespace tessera::simulate {

using program::Axis;
using program::Call;
using program::CallKind;
using program::CallRole;
using program::Collective;
using program::Phase;
using program::ProductForm;

/// A product of which both operands are stored transposed is as one of which
/// none is.
constexpr size_t kProductForms = 3;
constexpr ProductForm ratedForm(ProductForm form) {
  return form == ProductForm::TransposedBoth ? ProductForm::Plain : form;
}

/// Calls `begin` to `end` - 1.
struct CallRange {
  int64_t begin = 0, end = 0;
};

/// The ranks of one stage run it in a step. Without tasks all calls run as they
/// stand, those of a loop so many times.
struct StageProgram : program::StageTasks {
  std::vector<Call> calls;
  /// The head makes these logits, and kernels of the loss move these bytes.
  double logits = 0, lossBytes = 0;
};

struct Program {
  program::Mesh mesh;
  /// The axis along which `stages` are numbered, by its place in the mesh; -1:
  /// all ranks run the only program.
  int64_t stageAxis = -1;
  /// Axes whose ranks have parts of the residual stream: forward of a layer
  /// scatters over them.
  std::set<std::string> streamAxes;
  std::vector<StageProgram> stages;
  Precision precision = Precision::F32;
  bool isCuda = false;
  /// Work of the busiest rank in causal attention over split sequences, against
  /// the mean.
  double causalImbalance = 1;
  int64_t tokens = 0; ///< Tokens of a step, all ranks.
  /// Flops of a step, all ranks, no work counted twice.
  double modelFlops = 0;
  int64_t bytesPerRank = 0; ///< Bytes of the rank that needs most.

  int64_t ranks() const { return mesh.ranks(); }
  /// The smallest rank of a stage: all its coordinates but the stage's are 0.
  int64_t firstRankOf(int64_t stage) const;
  int64_t stageOf(int64_t rank) const;
  /// The ranks that differ from `rank` on these axes only, with itself.
  std::vector<int64_t> groupOf(int64_t rank, llvm::ArrayRef<size_t> axes) const;
};

/// Returns the training step of an artifact. `program` was read of `metadata`,
/// whose calls are read here.
llvm::Expected<Program> readStep(llvm::StringRef metadata,
                                 const program::Program &program);

} // namespace tessera::simulate

#endif // TESSERA_SIMULATE_STEPPROGRAM_H
