//===- RingSlices.h - what a rank has of a sequence in a ring ---*- C++ -*-===//
// Its slice; or, where a causal mask hides later keys, two chunks of half the
// size, an early and a late one (rt.zigzag), so that every rank has as much
// work in each step (Llama 3, Grattafiori et al. 2024, arXiv
// 2407.21783, 3.3.2). Which of them: AttentionMask.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_LOWER_RINGSLICES_H
#define TESSERA_LIB_LOWER_RINGSLICES_H

#include "tessera/Dialect/NN/AttentionMask.h"
#include "tessera/Partition/Factors.h"
#include <array>

namespace tessera {

/// Parts of a slice in the order of their positions.
using RingParts = llvm::SmallVector<mlir::Value, 2>;

class RingSlices {
public:
  /// Queries and keys of an attention that are visible to each other, at least
  /// in some step of the ring and on some rank.
  struct Pair {
    unsigned queries, keys;
    bool masked; ///< False: the mask hides nothing.
  };

  /// For what replaces `op`. Error: chunks must be equal.
  static mlir::FailureOr<RingSlices>
  of(mlir::Operation *op, const FactorSpan &keys, nn::AttentionMask mask);

  /// Returns the steps of the ring: with the keys of the own rank and of as
  /// many ranks before.
  int64_t steps() const { return count; }
  /// The first pair with some keys or queries leaves no row without one.
  llvm::ArrayRef<Pair> pairs() const;

  /// Splits a tensor whose dimension `dim` is the rank's slice into its parts.
  RingParts split(mlir::Value slice, int64_t dim = 1);
  /// Returns the queries, keys and values. A fused projection of them goes as
  /// one.
  std::array<RingParts, 3> split(mlir::Value query, mlir::Value key,
                                 mlir::Value value);
  mlir::Value join(const RingParts &parts, int64_t dim = 1);
  /// Parts of the rank before, in contiguous buffers; `what` they are.
  RingParts shift(const RingParts &parts, llvm::StringRef what) {
    return pass(parts, 1, what);
  }
  /// Parts that have gone from rank to rank in all steps, back at their own.
  RingParts home(const RingParts &parts, llvm::StringRef what) {
    return pass(parts, size - (count - 1), what);
  }
  /// Returns where a part begins that a rank has after `step` shifts (i64), in
  /// slices of `length` positions.
  mlir::Value start(int64_t step, unsigned part, int64_t length);

private:
  RingSlices(mlir::Operation *op, mlir::StringAttr axis)
      : op(op), b(op), axis(axis) {}
  int64_t parts() const { return chunks ? 2 : 1; }
  mlir::Value contiguous(mlir::Value value);
  RingParts pass(const RingParts &parts, int64_t distance,
                 llvm::StringRef what);
  template <typename OpTy> OpTy marked(OpTy made, llvm::StringRef reason);

  mlir::Operation *op;
  mlir::OpBuilder b;
  mlir::StringAttr axis;
  int64_t size = 1, count = 1;
  bool chunks = false, windowed = false;
};

} // namespace tessera

#endif // TESSERA_LIB_LOWER_RINGSLICES_H
