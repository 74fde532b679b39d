//===- NNProgram.h - the nn program of a module -----------------*- C++ -*-===//

#ifndef TESSERA_DIALECT_NN_NNPROGRAM_H
#define TESSERA_DIALECT_NN_NNPROGRAM_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace tessera::nn {

/// Returns the function of that name: one block, ranked tensors as arguments
/// and results and of all ops. Emits an error where a module has none.
mlir::FailureOr<mlir::func::FuncOp> findProgram(mlir::ModuleOp module,
                                                llvm::StringRef name);
/// Returns the function @loss of a module that is not distributed yet: on
/// tensors without an encoding. Emits an error where a module has none.
mlir::FailureOr<mlir::func::FuncOp> findSerialLoss(mlir::ModuleOp module);
/// The training step: `@step`, or a function per pipeline stage, those with
/// `rt.stage`, in order of stages. Emits an error where a module has none.
mlir::FailureOr<llvm::SmallVector<mlir::func::FuncOp>>
findSteps(mlir::ModuleOp module);
/// On a program that computes the loss of a batch and how many labels are
/// predicted, and changes nothing.
constexpr llvm::StringLiteral kEvaluationAttr = "nn.evaluation";
constexpr llvm::StringLiteral kEvaluationName = "evaluation";
/// The roles of its results: the mean of the cross-entropy, the number of
/// labels that the largest logit predicts and, where labels may be ignored, of
/// those that count.
constexpr llvm::StringLiteral kEvaluationLoss = "evaluation_loss";
constexpr llvm::StringLiteral kEvaluationCorrect = "evaluation_correct";
constexpr llvm::StringLiteral kEvaluationCount = "evaluation_count";
inline bool isEvaluation(mlir::Operation *program) {
  return program->hasAttr(kEvaluationAttr);
}
/// Returns the evaluation: `@evaluation`, or a function per stage, in order of
/// stages; empty where a module has none.
llvm::SmallVector<mlir::func::FuncOp> findEvaluations(mlir::ModuleOp module);
/// On a program for inference: its name. `decode`, `mixed` and `score` run rows
/// of requests over caches and read the same parameters and caches; `decode`
/// runs a row for each slot, `mixed` also a chunk of prompts, and `score` as
/// many rows, whose labels it scores. `encode` runs whole sequences through an
/// encoder: alone, or beside these to fill the caches of cross-attention.
constexpr llvm::StringLiteral kGenerationAttr = "nn.generation";
constexpr llvm::StringLiteral kDecodeName = "decode";
constexpr llvm::StringLiteral kMixedName = "mixed";
constexpr llvm::StringLiteral kScoreName = "score";
constexpr llvm::StringLiteral kEncodeName = "encode";
/// The roles of results behind the name of a program: logits of the rows that
/// are taken; of `score` for each row the log-probability of its label, and how
/// many logits come before the label's.
constexpr llvm::StringLiteral kLogits = "_logits";
/// In the place of logits: the best of them, one that is drawn from all, and
/// what their probabilities are divided by.
constexpr llvm::StringLiteral kCandidates = "_candidates";
constexpr llvm::StringLiteral kDrawn = "_drawn";
constexpr llvm::StringLiteral kTotals = "_totals";
/// The data that say how: tokens of the text and the penalty of their
/// repetition, 1 / temperature, and the seed and position of a draw.
constexpr llvm::StringLiteral kSampledTokens = "_tokens";
constexpr llvm::StringLiteral kPenalties = "_penalties";
constexpr llvm::StringLiteral kSharpness = "_sharpness";
constexpr llvm::StringLiteral kDraws = "_draws";
constexpr llvm::StringLiteral kLogProbabilities = "_log_probabilities";
constexpr llvm::StringLiteral kLabelRanks = "_label_ranks";
/// The data of `encode` beside the model's: whose logits are wanted; and the
/// roles of its results.
constexpr llvm::StringLiteral kEncodePositions = "positions";
constexpr llvm::StringLiteral kEncodeHidden = "encode_hidden";
constexpr llvm::StringLiteral kEncodeLogits = "encode_logits";
/// The roles of caches, whose `nn.of` is their layer, and the attributes of
/// `nn.model` that state the sizes of a module for generation.
constexpr llvm::StringLiteral kKeyCache = "key_cache";
constexpr llvm::StringLiteral kValueCache = "value_cache";
inline bool isGeneration(mlir::Operation *program) {
  return program->hasAttr(kGenerationAttr);
}
/// On `decode` in a module that also trains, and on `encode` beside `decode`.
constexpr llvm::StringLiteral kBesideAttr = "nn.beside";
/// Returns `@decode`, `@mixed` and `@score`, and `@encode`, as far as a module
/// has them.
llvm::SmallVector<mlir::func::FuncOp> findGenerations(mlir::ModuleOp module);
/// Returns whether a program is not the module's first: it finds the arguments
/// that it shares with others where these have them. That is an evaluation,
/// @mixed, @score and, beside a training step, @decode; beside @decode also
/// @encode.
bool isBeside(mlir::Operation *program);
/// Programs by what they are, each with a function per stage: the step, the
/// evaluation, @decode, @mixed, @score.
llvm::SmallVector<llvm::SmallVector<mlir::func::FuncOp>>
groupPrograms(llvm::ArrayRef<mlir::func::FuncOp> programs);
/// The step's functions, then the evaluation's, then those for generation, as
/// far as there are any. Emits an error where a module has none.
mlir::FailureOr<llvm::SmallVector<mlir::func::FuncOp>>
findPrograms(mlir::ModuleOp module);
/// The function of that name, then the evaluation and the programs for
/// generation, as far as there are any; in a module for generation alone its
/// programs. For passes before there are stages; emits an error where a module
/// has no such function.
mlir::FailureOr<llvm::SmallVector<mlir::func::FuncOp>>
findWithOthers(mlir::ModuleOp module, llvm::StringRef name);
/// Emits an error unless a function is such a program: of registered ops, none
/// of which is a call, on tensors whose axes the mesh has.
mlir::LogicalResult checkProgram(mlir::func::FuncOp func);

} // namespace tessera::nn

#endif // TESSERA_DIALECT_NN_NNPROGRAM_H
