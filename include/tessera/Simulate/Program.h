//===- Program.h - the calls of a step, with what they cost -----*- C++ -*-===//
// A distributed program as an artifact's metadata describes it
// (docs/Artifact.md): for each pipeline stage the calls of one of its ranks,
// and the order of its tasks. Ranks that run the same program are alike.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_SIMULATE_PROGRAM_H
#define TESSERA_SIMULATE_PROGRAM_H

#include "tessera/Dialect/Dist/State.h"
#include "tessera/Options/PlanOptions.h"
#include <array>
#include <set>
#include <string>
#include <vector>

namespace tessera::simulate {

enum class CallKind {
  Kernel,            ///< Bound by memory: kernels, copies, optimizers.
  Product,           ///< A matrix product.
  Attention,         ///< Forward.
  AttentionGradient, ///< Backward.
  Collective,        ///< Of a group of ranks.
  Send,
  Receive,
  Wait, ///< For a call that was started earlier.
};

/// Which operand of a matrix product is stored transposed; both are as none.
enum class ProductForm { Plain, TransposedA, TransposedB };
constexpr size_t kProductForms = 3;

struct Call {
  CallKind kind = CallKind::Kernel;
  std::string op, name; ///< "gemm", "h.3.mlp".
  bool isForward = false;
  bool recomputes = false;      ///< Forward work done again in backward.
  int64_t layer = -1;           ///< Its number; -1: of none.
  bool recomputesLayer = false; ///< Its layer recomputes everything.
  bool isUpdate = false;        ///< Of the optimizer.
  bool isLoss = false;          ///< A kernel of the loss, forward or backward.
  bool isRouting = false;       ///< Chooses or moves rows of experts.
  /// Of a gradient of attention: its layer recomputes what is cheap.
  bool scoresAgain = false;
  int64_t times = 1; ///< In a loop over micro-batches.
  double flops = 0, bytes = 0;
  double elements = 0;  ///< Of a collective or a message: in its `bytes`.
  double functions = 0; ///< exp, log, tanh and erf of single elements.
  /// Of a product: m, n, k. Of attention: queries of all heads and sequences,
  /// keys of each, size of a head.
  std::array<int64_t, 3> shape = {0, 0, 0};
  ProductForm form = ProductForm::Plain; ///< Of a product.
  /// Of a product: what it writes of its results, and reads to add to them; 0:
  /// an element of the program's precision each.
  double resultBytes = 0;
  /// Of the products of experts' rows, one for each: how many. 0: of a product
  /// that is none of these.
  int64_t experts = 0;
  dist::Collective collective = dist::Collective::None;
  std::vector<size_t> axes; ///< Of a collective, a send or a receive.
  int64_t peer = 0; ///< Coordinate that a message goes to or comes from.
  int64_t wait = 0; ///< The call that waits for this one; 0: this one blocks.
};

/// Calls `begin` to `end` - 1.
struct CallRange {
  int64_t begin = 0, end = 0;
};

/// What the ranks of one stage run in a step: the calls before the first task,
/// the tasks in the order of `order`, the calls after the last one. Without
/// tasks all calls as they stand, those of a loop so many times.
struct StageProgram {
  struct Entry {
    int64_t task = 0, microBatch = 0;
  };
  std::vector<Call> calls;
  /// That its head makes, and bytes of the kernels of the loss, each time.
  double logits = 0, lossBytes = 0;
  std::vector<CallRange> tasks;
  std::vector<std::string> taskNames;
  std::vector<Entry> order;
};

struct Axis {
  std::string name;
  int64_t size = 1;
};

struct Program {
  std::vector<Axis> mesh; ///< The last one varies fastest over ranks.
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
  int64_t tokens = 0;       ///< Of a step, all ranks.
  double modelFlops = 0;    ///< Of a step, all ranks, no work counted twice.
  int64_t bytesPerRank = 0; ///< Of the rank that needs most.

  int64_t ranks() const;
  /// The smallest rank of a stage: all its coordinates but the stage's are 0.
  int64_t firstRankOf(int64_t stage) const;
  int64_t stageOf(int64_t rank) const;
  /// The ranks that differ from `rank` on these axes only, with itself.
  std::vector<int64_t> groupOf(int64_t rank,
                               const std::vector<size_t> &axes) const;
};

} // namespace tessera::simulate

#endif // TESSERA_SIMULATE_PROGRAM_H
