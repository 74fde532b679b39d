//===- Mutant.h - one change of a program -----------------------*- C++ -*-===//
// A mutant names its ops by their number in @step, so that it can be applied to
// any copy of the program, in any context.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TEST_MUTATION_MUTANT_H
#define TESSERA_TEST_MUTATION_MUTANT_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include <functional>
#include <string>
#include <vector>

namespace tessera::test {

/// The form of the program when it is changed.
enum class Stage { Typed, Localized, Lowered, Planned };
constexpr int kStages = 4;

struct Mutant {
  Stage stage = Stage::Typed;
  std::string kind;  ///< Row of the table.
  std::string what;  ///< The op and its change.
  std::string right; ///< Why it is another correct program; "": it is not.
  /// Why it is one unless it is refused; "": see `right`.
  std::string mayBeRight;
  /// Typed: results get the types that follow from their operands.
  bool retypes = true;
  /// Changes a copy of the program.
  std::function<void(mlir::ModuleOp)> apply;
};

using Mutants = std::vector<Mutant>;

/// Why a mutant can be another correct program.
constexpr const char *kShiftCancels =
    "a softmax does not depend on its shift, as long as ranks agree on it";
constexpr const char *kNothingInPadding =
    "no token lies in the padding of the vocabulary";

constexpr const char *kNoCandidate =
    "what is masked by -inf is no candidate, and its probability is 0";
constexpr const char *kFirstMicroBatch =
    "a batch's size says where later micro-batches begin; this is the first";
constexpr const char *kNoDropout =
    "attention without dropout does not ask where in batch and heads it is";
constexpr const char *kFirstStage =
    "at the first stage, or owner, the coordinate that is added is 0";
constexpr const char *kOnlyRow =
    "of one row over stages the first holds all, and may alone read it";
constexpr const char *kFirstIsRead =
    "of one lane the first rank of cp holds all, whose results the host reads";
constexpr const char *kSameValue =
    "a value that was repeated, viewed or broadcast is the same value";
constexpr const char *kOtherSplit =
    "what is added up afterwards may be split along any of its dimensions";
constexpr const char *kNoneIsLarger =
    "no logit is before the label's if on no rank one is: a sum or the largest";
constexpr const char *kKeyBias =
    "a key bias adds as much to all scores of a query: softmax cancels it";
constexpr const char *kOrderIsFree =
    "messages may also pass in this order: every rank gets what it waits for";

constexpr const char *kTasksAreFree =
    "tasks that need nothing of each other may run in either order";
constexpr const char *kPlaceIsFree =
    "a frame may lie anywhere where nothing else is needed meanwhile";

/// Ops of @step, or of all stages' steps, in order.
std::vector<mlir::Operation *> opsOf(mlir::ModuleOp module);
/// Returns "'rt.all_reduce' of h.0.mlp, backward".
std::string describe(mlir::Operation *op);
/// Returns false for attention whose place in batch and heads only its dropout,
/// of probability 0, would read.
bool needsPlace(mlir::Operation *op);
/// Is the op in the program of ranks whose coordinate on the axis is 0 alone?
bool isFirstAlong(mlir::Operation *op, llvm::StringRef axis);
/// Returns "forward", "backward" or "optimizer".
std::string phaseOf(mlir::Operation *op);

/// Returns @step, or those of the stages: all functions that are no kernels.
llvm::SmallVector<mlir::func::FuncOp> programsOf(mlir::ModuleOp module);

/// Deletes, changes, rewires and relabels conversions; relabels results; gives
/// inputs another state.
Mutants typedMutants(mlir::ModuleOp typed);
/// Appends, attention and rows of programs for generation that read other
/// values; of the typed program or the lowered one.
Mutants generationMutants(mlir::ModuleOp program, Stage stage);
/// Global sizes taken for local ones, inputs placed elsewhere. `isRead` says
/// whether the factors of an op make a difference to the lowered program.
Mutants
localizedMutants(mlir::ModuleOp localized,
                 llvm::function_ref<bool(llvm::StringRef opName)> isRead);
/// Positions of a rank and keys of dropout replaced, loops shortened.
Mutants loweredMutants(mlir::ModuleOp lowered);
/// Returns the collectives deleted, with other operands, over other axes, of
/// another kind.
Mutants collectiveMutants(mlir::ModuleOp lowered);
/// Messages left out, sent elsewhere, in another order.
Mutants messageMutants(mlir::ModuleOp lowered);
/// Tasks of stages in another order, or for another micro-batch.
Mutants orderMutants(mlir::ModuleOp lowered);
/// Mutants that put a value which crosses tasks in another place.
Mutants frameMutants(mlir::ModuleOp planned);
/// Calls that prepare a buffer skipped, collectives not waited for.
Mutants plannedMutants(mlir::ModuleOp planned);

} // namespace tessera::test

#endif // TESSERA_TEST_MUTATION_MUTANT_H
