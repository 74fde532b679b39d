//===- TypingRule.h - the one rule ------------------------------*- C++ -*-===//
// The rule says which states of operands an op accepts on a mesh axis, and the
// state of its result. Everything an op says of itself for this is its
// Signature.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_DIST_TYPINGRULE_H
#define TESSERA_DIALECT_DIST_TYPINGRULE_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include "tessera/Dialect/Dist/State.h"

namespace tessera::dist {

/// An op as typing sees it, for one of its results. Factors are letters, one
/// per dimension: equal letters are split alike.
struct Signature {
  llvm::SmallVector<std::string> ins;
  std::string out;
  /// Groups of operands in which the op is jointly linear, the rest held fixed.
  llvm::SmallVector<llvm::SmallVector<unsigned>> linear;
  /// Factors that must stay whole.
  std::string whole;
  /// The state that contracting a split factor gives: a partial sum, maximum or
  /// mean.
  State::Kind reduces = State::P;
  /// Operands that lend only their shape; a partial one counts as replicated.
  llvm::SmallVector<unsigned> shapeOnly;
  /// Operands that this result does not depend on.
  llvm::SmallVector<unsigned> unread;

  /// True if the op rounds nothing: its results for partial sums add up to its
  /// result for their sum, bit for bit.
  bool moves = false;
  /// True if the op contracts a factor in chunks where a module asks for it
  /// (`exact`).
  bool addsInChunks = false;

  /// Two factors that may be split at once, alike, on axis `ringAxis`: the op
  /// passes what has the second on from rank to rank. Empty: none.
  std::string ring, ringAxis;

  /// Returns the signature on one axis.
  Signature on(llvm::StringRef axis) const;
  /// The signature where every mesh must give the same bits: partial sums come
  /// from factors that are added in chunks, and only ops that move them read
  /// them.
  Signature exact() const;
  bool reads(unsigned operand) const {
    return !llvm::is_contained(unread, operand);
  }

  /// Parses "bsh,hf->bsf". The op is linear in nothing until `linear` is set.
  static Signature parse(llvm::StringRef spec);
  /// Returns an op that works element by element on `operands` tensors of a
  /// rank.
  static Signature elementwise(int64_t rank, unsigned operands);
  /// The op is linear in each operand, with the others held fixed (products).
  Signature &linearInEach();
  /// The op is linear in all operands together (sums).
  Signature &linearInAll();
};

/// Returns the signature of a result of a distributable op on one axis, in its
/// module.
Signature signatureOn(mlir::Operation *op, unsigned result,
                      llvm::StringRef axis);
/// Returns the number of chunks of the module's sums (`dist.layout_invariant`);
/// 0 where sums may be made in any order.
int64_t chunksOf(mlir::Operation *op);

/// States of the operands that an op accepts on one axis, and its result's.
struct Row {
  llvm::SmallVector<State> operands;
  State result;
};

/// Returns all rows of a signature, in order of preference: the same work
/// everywhere, one factor split, partial sums. `stages` > 0 adds rows at one
/// pipeline stage.
llvm::SmallVector<Row> rows(const Signature &sig, int64_t levels,
                            int64_t stages);

/// Returns the result's state, or nullopt with the remedy in `why`.
std::optional<State> infer(const Signature &sig, llvm::ArrayRef<State> states,
                           std::string &why);

/// Returns the state of a tensor type on an axis; I where nothing is said.
State stateOf(mlir::Type type, llvm::StringRef axis);
/// Returns the type with another state on an axis.
mlir::RankedTensorType withState(mlir::RankedTensorType type,
                                 llvm::StringRef axis, State state);
/// Returns the type without any distribution.
mlir::RankedTensorType erased(mlir::RankedTensorType type);
/// Returns the type of the gradient.
mlir::RankedTensorType dualType(mlir::RankedTensorType type);
/// Returns why a type's shards are not numbered from 0 inward; empty if they
/// are.
std::string checkLevels(mlir::RankedTensorType type);
/// Returns the axes that shard a dimension, outermost first.
llvm::SmallVector<mlir::StringAttr> axesOf(mlir::RankedTensorType type,
                                           int64_t dim);

/// Computes shape and distribution of every result from the operands; emits an
/// error and fails where sizes differ or the rule refuses.
mlir::FailureOr<llvm::SmallVector<mlir::RankedTensorType>>
inferResultTypes(mlir::Operation *op);
/// Sets the result types to what the operands imply.
mlir::LogicalResult setResultTypes(mlir::Operation *op);
/// Emits an error unless the mesh has every axis and stage that a type names.
mlir::LogicalResult verifyAxes(mlir::Operation *op, mlir::Type type);
/// Verifies a distributable op.
mlir::LogicalResult verifyDistributable(mlir::Operation *op);

} // namespace tessera::dist

#endif // TESSERA_DIALECT_DIST_TYPINGRULE_H
