//===- ProgramReport.h - what a lowered program does, in numbers ----------===//
// Walks `@step` of one rank: every call with its work and its traffic, and
// their sums per optimizer step. What is counted is what runs.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_TARGET_PROGRAMREPORT_H
#define TESSERA_LIB_TARGET_PROGRAMREPORT_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tessera/Dialect/NN/NN.h"
#include <map>
#include <optional>

namespace tessera {

/// One call of the runtime, in the order of its number.
struct CallRecord {
  llvm::StringRef op;   ///< Without dialect: "all_reduce".
  llvm::StringRef name; ///< From the location: "h.3.mlp"; may be empty.
  nn::Phase phase = nn::Phase::Forward;
  llvm::StringRef kernel; ///< Of a launch.
  llvm::StringRef reason; ///< Of a collective.
  int64_t layer = -1;     ///< First number in the name; -1: none.
  int64_t times = 1;      ///< Per optimizer step.
  int64_t flops = 0;      ///< Of one call; a multiply-add is two.
  int64_t tensors = 1;    ///< That a collective moves.
  int64_t elements = 0;   ///< Of the whole tensors of a collective.
  int64_t bytes = 0;      ///< Of these; else of what a call reads and writes.
  int64_t functions = 0;  ///< exp, log, tanh, erf that a kernel evaluates.
  /// Of a matrix product: m, n, k. Of attention: queries of all heads and
  /// sequences, keys of each, size of a head. Of no other call.
  llvm::SmallVector<int64_t, 3> shape;
  /// Of a matrix product: bytes of results, of what it adds to, and of what its
  /// epilogue reads.
  int64_t resultBytes = 0;
  /// Operands of a matrix product that are stored transposed: "a", "b", "ab".
  llvm::StringRef transposed;
  int64_t experts = 0; ///< With a product of such a shape each; 0: no experts.
  std::optional<int64_t> peer; ///< Of a message: the coordinate of the other.
  llvm::SmallVector<llvm::StringRef> axes;
  dist::Collective collective = dist::Collective::None;
  bool isRoot = false; ///< Of a broadcast: has what the others get.
  /// The number of the call that waits for this one; 0: this one blocks.
  int64_t wait = 0;
};

/// Per optimizer step, of one rank.
struct Traffic {
  int64_t calls = 0, elements = 0, bytes = 0;
  double ringBytes = 0; ///< That a rank sends with ring algorithms.
  /// Bytes of messages and broadcasts alone, from the source to each receiver.
  int64_t sent = 0, received = 0;
};

struct ProgramReport {
  std::vector<CallRecord> calls;
  int64_t forwardFlops = 0, backwardFlops = 0, optimizerFlops = 0;
  int64_t recomputeFlops = 0; ///< Forward work done again in backward.
  std::map<std::string, Traffic> traffic; ///< By axes: "tp" or "dp,tp".
  int64_t parameters = 0;                 ///< Global, padding not counted.
  int64_t parametersPerRank = 0;          ///< What a rank stores.
  int64_t tokens = 0;                     ///< Per step, all ranks.
  int64_t kernels = 0, launches = 0, gemms = 0; ///< Launches, gemms: per step.
  /// What part of causal attention each slice of a split sequence is; empty:
  /// no sequence is split there.
  std::vector<double> causalWork;

  int64_t flops() const {
    return forwardFlops + backwardFlops + recomputeFlops + optimizerFlops;
  }
};

/// Without its parameters.
ProgramReport reportProgram(mlir::func::FuncOp step, dist::MeshAttr mesh);
/// Adds those of all programs of a stage, which share them by name.
void countParameters(llvm::ArrayRef<mlir::func::FuncOp> programs,
                     ProgramReport &report);

} // namespace tessera

#endif // TESSERA_LIB_TARGET_PROGRAMREPORT_H
